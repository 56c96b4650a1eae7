/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/verify.h"

#include <string.h>

#include "resolver/text/json_tree.h"

static uint64_t
number_of(const struct json_node *ours, const char *key)
{
	long long number = 0;

	(void)json_tree_integer(json_tree_member(ours, key), 0, INT64_MAX,
	    &number);
	return (uint64_t)number;
}

static enum log_line_kind
kind_of(const char *event)
{
	static const char *const events[] = {
		[LOG_BEGIN] = "begin",
		[LOG_LOST] = "lost",
		[LOG_UNREAD] = "unread",
		[LOG_END] = "end",
	};

	for (unsigned int i = LOG_BEGIN; i <= LOG_END; i++)
		if (strcmp(event, events[i]) == 0)
			return (enum log_line_kind)i;
	return LOG_FOREIGN;
}

void
log_line_read(struct log_line *line, struct json_tree *tree, const char *text,
    size_t length)
{
	const struct json_range range = { .text = text, .length = length,
		.line = 1 };
	const struct json_node *ours;
	const char *event, *why;
	unsigned int where;
	int error;

	ours = json_tree_member(json_tree_take(tree, &range, &error, &why,
	    &where), "nfdns");
	event = json_tree_string(json_tree_member(ours, "event"));
	*line = (struct log_line){
		.kind = event != NULL ? kind_of(event) : LOG_RECORD,
		.run = number_of(ours, "run"),
		.number = number_of(ours, event != NULL ? "next" : "number"),
		.count = number_of(ours, "records") +
		    number_of(ours, "questions"),
	};
	if (line->kind == LOG_RECORD ? line->number == 0 : line->run == 0)
		line->kind = LOG_FOREIGN;
}

bool
log_verify_is_over(const struct log_verify *v, const struct log_line *line)
{
	return v->run != 0 && (line == NULL ||
	    (line->kind == LOG_BEGIN && line->run != v->run));
}

/* Numbers up to this one should have come. */
static enum log_finding
come_to(struct log_verify *v, uint64_t number)
{
	if (number < v->next)
		return LOG_REPEATED;
	if (number > v->next && v->gap == 0)
		v->from = v->next;
	if (number > v->next)
		v->to = number - 1;
	v->gap += number - v->next;
	v->next = number;
	return LOG_FINE;
}

/* The first line of all need not be the first of its run. */
static void
begin(struct log_verify *v, const struct log_line *line)
{
	v->run = line->run;
	v->next = line->number;
	v->gap = v->told = v->from = v->to = 0;
}

enum log_finding
log_verify_line(struct log_verify *v, const struct log_line *line)
{
	enum log_finding found = LOG_FINE;

	if (line->kind == LOG_FOREIGN)
		return LOG_IS_FOREIGN;
	if (line->kind == LOG_BEGIN && line->run != v->run)
		begin(v, line);
	if (v->run == 0) {
		v->run = 1;		/* one that is not known */
		v->next = line->kind == LOG_RECORD ? line->number : 1;
	}
	switch (line->kind) {
	case LOG_RECORD:
		found = come_to(v, line->number);
		v->next += found == LOG_FINE;
		v->records += found == LOG_FINE;
		break;
	case LOG_LOST:
		v->told += line->count;
		v->lost += line->count;
		break;
	case LOG_UNREAD:
		v->unread += line->count;
		break;
	default:
		found = come_to(v, line->number);
		break;
	}
	v->ended = line->kind == LOG_END;
	return found;
}
