/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of names: one a line, as in the list "names" of a rule; blanks around
 * it, empty lines and what follows a "#" mean nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/config/policy_pattern.h"
#include "policy/match/build_state.h"

#define BLANKS " \t\r\f\v"

/* A line without its end, blanks and comment. */
struct line {
	const char *text;
	size_t length;
	unsigned int number;
};

static bool
is_blank(char c)
{
	return c != '\0' && strchr(BLANKS, c) != NULL;
}

static void
trim(struct line *line)
{
	const char *hash = memchr(line->text, '#', line->length);

	if (hash != NULL)
		line->length = (size_t)(hash - line->text);
	while (line->length > 0 && is_blank(line->text[line->length - 1]))
		line->length--;
	while (line->length > 0 && is_blank(line->text[0])) {
		line->text++;
		line->length--;
	}
}

static void
refuse(struct builder *b, const char *path, const struct line *line, int error)
{
	if (error == -ENAMETOOLONG)
		diag_add(b->diag, DIAG_ERROR, path, line->number, "a label of "
		    "this name is longer than 63 octets, or the name longer "
		    "than 255");
	else
		diag_add(b->diag, DIAG_ERROR, path, line->number, "found "
		    "\"%.*s\", which is no domain name",
		    line->length > 100 ? 100 : (int)line->length, line->text);
}

static void
add_line(struct builder *b, struct build_set *set, const char *path,
    struct line *line)
{
	struct policy_name name;
	const int error = policy_pattern_read(&name, line->text, line->length);

	if (error < 0) {
		refuse(b, path, line, error);
		return;
	}
	set->names[set->count++] = (struct set_name){
	    build_name_get(b, &name.name), name.kind };
}

static size_t
count_lines(const char *text, size_t length)
{
	size_t lines = 1;

	for (const char *at = text; (at = memchr(at, '\n',
	    length - (size_t)(at - text))) != NULL; at++)
		lines++;
	return lines;
}

static void
read_lines(struct builder *b, struct build_set *set, const char *path,
    const char *text, size_t length)
{
	const char *end = text + length;
	struct line line = { .number = 0 };

	while (text < end && b->error == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		line.text = text;
		line.length = (size_t)((stop != NULL ? stop : end) - text);
		line.number++;
		text += line.length + 1;
		trim(&line);
		if (line.length == 0)
			continue;
		if (set->count == RULE_NAMES_MAX) {
			diag_add(b->diag, DIAG_ERROR, path, line.number, "more "
			    "than %d names; make two files of it",
			    RULE_NAMES_MAX);
			return;
		}
		add_line(b, set, path, &line);
	}
}

void
build_set_read(struct builder *b, struct build_set *set,
    const struct source_text *text)
{
	size_t lines = count_lines(text->data, text->length);

	if (lines > RULE_NAMES_MAX)
		lines = RULE_NAMES_MAX;
	set->names = calloc(lines, sizeof(*set->names));
	if (set->names == NULL)
		b->error = -ENOMEM;
	else
		read_lines(b, set, text->path, text->data, text->length);
	if (set->count == 0 && b->error == 0)
		diag_add(b->diag, DIAG_WARNING, text->path, 0, "has no names, so "
		    "that rules with this file match nothing");
}
