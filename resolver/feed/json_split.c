/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/json_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory of a large object is given back when the stream is begun anew. */
#define KEPT_SIZE	((size_t)1 << 20)

static int
grow(struct json_split_text *t, size_t more)
{
	size_t wanted = t->used + more, size = t->size;
	char *grown;

	if (wanted <= size)
		return 0;
	while (size < wanted)
		size = size == 0 ? 4096 : size * 2;
	grown = realloc(t->text, size);
	if (grown == NULL)
		return -ENOMEM;
	t->text = grown;
	t->size = size;
	return 0;
}

static void
release(struct json_split_text *t)
{
	free(t->text);
	*t = (struct json_split_text){ .text = NULL };
}

void
json_split_begin(struct json_split *split, bool list)
{
	struct json_split_text kept = split->kept, head = split->head;

	if (kept.size > KEPT_SIZE)
		release(&kept);
	kept.used = head.used = 0;
	*split = (struct json_split){ .kept = kept, .head = head,
	    .list = list };
}

int
json_split_add(struct json_split *split, const void *octets, size_t length)
{
	struct json_split_text *kept = &split->kept;
	size_t from = split->braces > 0 ? split->begin : split->at;
	int error;

	/* An object that is not whole is moved once: then it begins at 0. */
	if (from > 0) {
		memmove(kept->text, kept->text + from, kept->used - from);
		kept->used -= from;
		split->at -= from;
		split->begin = 0;
	}
	error = grow(kept, length);
	if (error != 0)
		return error;
	if (length > 0)
		memcpy(kept->text + kept->used, octets, length);
	kept->used += length;
	return 0;
}

/* Steps over one octet of a string. */
static void
step_quoted(struct json_split *split, char c)
{
	if (split->escaped)
		split->escaped = false;
	else if (c == '\\')
		split->escaped = true;
	else if (c == '"')
		split->quoted = false;
}

/* Steps through the object; true behind its last brace. */
static bool
step_object(struct json_split *split)
{
	const char *text = split->kept.text;

	while (split->at < split->kept.used) {
		char c = text[split->at++];

		if (split->quoted)
			step_quoted(split, c);
		else if (c == '"')
			split->quoted = true;
		else if (c == '{')
			split->braces++;
		else if (c == '}' && --split->braces == 0)
			return true;
	}
	return false;
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Whether the string that ended last is "items", the name of a member. */
static bool
is_items(const struct json_split *split)
{
	static const char items[] = "\"items\":";

	return split->depth == 1 &&
	    split->head.used - split->key == sizeof(items) - 1 &&
	    memcmp(split->head.text + split->key, items, sizeof(items) - 1) ==
	    0;
}

/* One octet between objects, or of the list around them. */
static int
step_outside(struct json_split *split, char c)
{
	const bool items = !split->list || split->in_items;

	if (split->quoted) {
		step_quoted(split, c);
		if (split->head.used == JSON_SPLIT_MAX_HEAD)
			return -EMSGSIZE;
		if (grow(&split->head, 1) != 0)
			return -ENOMEM;
		split->head.text[split->head.used++] = c;
		return 0;
	}
	if (is_space(c) || (split->list && items && c == ','))
		return 0;
	if (items && c == '{') {
		split->begin = split->at - 1;
		split->braces = 1;
		return 0;
	}
	if (split->list && items && c == ']')
		split->in_items = false;
	else if (items)
		return -EBADMSG;
	/* One octet of the list outside its items, white space aside. */
	if (split->whole || (split->depth == 0 && c != '{'))
		return -EBADMSG;
	if (split->head.used == JSON_SPLIT_MAX_HEAD)
		return -EMSGSIZE;
	if (grow(&split->head, 1) != 0)
		return -ENOMEM;
	if (c == '"') {
		split->quoted = true;
		split->key = split->head.used;
	}
	if (c == '[')
		split->in_items = is_items(split);
	split->head.text[split->head.used++] = c;
	if (c == '{' || c == '[')
		split->depth++;
	else if (c == '}' || c == ']')
		split->depth--;
	split->whole = split->depth == 0;
	return 0;
}

int
json_split_next(struct json_split *split, struct json_range *object)
{
	for (;;) {
		if (split->braces > 0) {
			bool whole = step_object(split);

			if (split->at - split->begin > JSON_SPLIT_MAX_OBJECT)
				return -EMSGSIZE;
			if (!whole)
				return 0;
			*object = (struct json_range){
				.text = split->kept.text + split->begin,
				.length = split->at - split->begin,
				.line = 1,
			};
			return 1;
		}
		if (split->at == split->kept.used)
			return 0;
		int error = step_outside(split, split->kept.text[split->at++]);

		if (error != 0)
			return error;
	}
}

bool
json_split_is_whole(const struct json_split *split)
{
	if (split->list)
		return split->whole;
	return split->braces == 0;
}

struct json_range
json_split_head(const struct json_split *split)
{
	return (struct json_range){ .text = split->head.text,
	    .length = split->head.used, .line = 1 };
}

void
json_split_free(struct json_split *split)
{
	release(&split->kept);
	release(&split->head);
	*split = (struct json_split)JSON_SPLIT_INIT;
}
