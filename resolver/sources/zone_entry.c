/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/zone_entry.h"

/* Where in an entry the cursor stands. */
struct state {
	unsigned int depth;	/* of parentheses */
	bool quoted;
	bool ended;
};

static void
put(struct zone_entry *entry, char c)
{
	if (c == '\0')
		entry->fault = "holds a NUL octet";
	else if (entry->length == ZONE_ENTRY_MAX)
		entry->fault = "is longer than 64 KiB";
	else
		entry->text[entry->length++] = c;
}

static void
take_newline(struct zone_cursor *cursor, struct zone_entry *entry,
    struct state *state)
{
	cursor->line++;
	if (state->quoted)
		entry->fault = "has a '\"' without another on the same line";
	state->quoted = false;
	if (state->depth > 0)
		put(entry, ' ');
	else
		state->ended = true;
}

static void
take_parenthesis(char c, struct zone_entry *entry, struct state *state)
{
	put(entry, ' ');
	if (c == '(')
		state->depth++;
	else if (state->depth > 0)
		state->depth--;
	else
		entry->fault = "has a ')' without a '('";
}

/* One octet, or two where the second is escaped. */
static void
take(struct zone_cursor *cursor, struct zone_entry *entry,
    struct state *state)
{
	char c = *cursor->at++;

	if (c == '\n') {
		take_newline(cursor, entry, state);
	} else if (c == '\\') {
		put(entry, c);
		if (cursor->at < cursor->end && *cursor->at != '\n')
			put(entry, *cursor->at++);
		else
			entry->fault = "has a '\\' at the end of a line";
	} else if (c == '"') {
		state->quoted = !state->quoted;
		put(entry, c);
	} else if (state->quoted) {
		put(entry, c);
	} else if (c == ';') {
		while (cursor->at < cursor->end && *cursor->at != '\n')
			cursor->at++;
	} else if (c == '(' || c == ')') {
		take_parenthesis(c, entry, state);
	} else {
		put(entry, c == '\t' || c == '\r' || c == '\f' ? ' ' : c);
	}
}

static void
read_entry(struct zone_cursor *cursor, struct zone_entry *entry)
{
	struct state state = { 0, false, false };

	entry->length = 0;
	entry->line = cursor->line;
	entry->fault = NULL;
	entry->cut_off = false;
	while (cursor->at < cursor->end && !state.ended)
		take(cursor, entry, &state);
	if (!state.ended && (state.quoted || state.depth > 0)) {
		entry->fault = state.quoted ? "has a '\"' without another" :
		    "has a '(' without a ')'";
		entry->cut_off = true;
	}
	/* But not a blank that is escaped. */
	while (entry->length > 0 && entry->text[entry->length - 1] == ' ' &&
	    (entry->length < 2 || entry->text[entry->length - 2] != '\\'))
		entry->length--;
	entry->text[entry->length] = '\0';
}

bool
zone_entry_next(struct zone_cursor *cursor, struct zone_entry *entry)
{
	while (cursor->at < cursor->end) {
		read_entry(cursor, entry);
		if (entry->length > 0 || entry->fault != NULL)
			return true;
	}
	return false;
}
