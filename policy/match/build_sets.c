/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of names, in any of the formats that list_line.h knows. */
#include <stdlib.h>
#include <string.h>

#include "policy/match/build_state.h"
#include "policy/match/list_line.h"

#define TOLD	10		/* lines of a file that are not read, at most */
#define SHOWN	100		/* octets of each of them */

/* A file while it is read. */
struct reading {
	struct builder *b;
	struct build_set *set;
	const char *path;
	uint32_t number;	/* of the set, from 1 */
	unsigned int line;
	size_t unread;		/* lines */
};

/* Notes a name once; lists have many for IPv4 and for IPv6. */
static void
add_name(struct reading *r, const struct policy_name *name)
{
	const uint32_t number = build_name_get(r->b, &name->name);
	const uint8_t kind = (uint8_t)(1 << name->kind);
	struct build_name *known;
	struct set_name *fresh;

	if (number == 0)
		return;
	known = AREA_AT(&r->b->names, struct build_name, number - 1);
	if (known->set != r->number) {
		known->set = r->number;
		known->set_kinds = 0;
		r->set->distinct++;
	}
	if ((known->set_kinds & kind) != 0)
		return;
	known->set_kinds |= kind;
	fresh = build_grow(r->b, &r->set->names, sizeof(*fresh));
	if (fresh != NULL)
		*fresh = (struct set_name){ number, name->kind };
}

static void
tell_unread(struct reading *r, const struct list_line *line)
{
	if (r->unread++ < TOLD)
		diag_add(r->b->diag, DIAG_WARNING, r->path, r->line, "not read: "
		    "\"%.*s\" %s", SPAN_SHOWN(line->text, SHOWN), line->why);
}

static void
read_line(struct reading *r, struct span text)
{
	struct policy_name name;
	struct list_line line;

	list_line_begin(&line, text);
	while (build_set_count(r->set) <= RULE_LIST_MAX &&
	    list_line_next(&line, &name))
		add_name(r, &name);
	if (line.why != NULL)
		tell_unread(r, &line);
}

static void
read_lines(struct reading *r, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end && r->b->error == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const struct span line = { text,
			(size_t)((stop != NULL ? stop : end) - text) };

		r->line++;
		text += line.length + 1;
		read_line(r, line);
		if (build_set_count(r->set) > RULE_LIST_MAX) {
			diag_add(r->b->diag, DIAG_ERROR, r->path, r->line,
			    "more than %d names; make two files of it and name "
			    "both in the rule", RULE_LIST_MAX);
			return;
		}
	}
}

/* What became of the file as a whole. */
static void
tell_counts(struct reading *r)
{
	struct diag *diag = r->b->diag;
	const size_t names = r->set->distinct;

	if (r->unread > TOLD)
		diag_add(diag, DIAG_WARNING, r->path, 0, "%zu lines are not "
		    "read; the first %d are told above", r->unread, TOLD);
	if (names == 0 && r->unread > 0)
		diag_add(diag, DIAG_ERROR, r->path, 0, "is not a list of names "
		    "that can be read; formats: nfdnsd-policy(5)");
	else if (names == 0)
		diag_add(diag, DIAG_WARNING, r->path, 0, "has no names, so "
		    "that rules with this file match nothing");
	else
		diag_add_count(diag, r->path, names, "name");
}

/*
 * What tells without reading it that it cannot be used: whoever waits for the
 * last good list should not wait for millions of lines.
 */
static bool
looks_sound(struct builder *b, const struct source_text *text)
{
	const char *at = text->data, *end = at + text->length;
	size_t lines = 0;

	/* As after a crash, where blocks were not written: half a list. */
	if (memchr(at, '\0', text->length) != NULL) {
		diag_add(b->diag, DIAG_ERROR, text->path, 0, "has an octet of "
		    "the value 0, so it is not a text, or half of one");
		return false;
	}
	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		at++;
		lines++;
	}
	if (lines <= RULE_LIST_MAX)
		return true;
	diag_add(b->diag, DIAG_ERROR, text->path, 0, "has more than %d lines; "
	    "make two files of it and name both in the rule", RULE_LIST_MAX);
	return false;
}

void
build_set_read(struct builder *b, struct build_set *set,
    const struct source_text *text)
{
	struct reading r = { .b = b, .set = set, .path = text->path,
		.number = (uint32_t)(set - b->sets) + 1 };

	if (!looks_sound(b, text))
		return;
	read_lines(&r, text->data, text->length);
	if (b->error == 0)
		tell_counts(&r);
}
