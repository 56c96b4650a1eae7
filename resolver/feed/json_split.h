/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the objects out of a stream of JSON that arrives in pieces cut
 * anywhere, by counting braces outside strings.  Two forms: a watch, objects
 * back to back; and a list, { ..., "items": [ OBJECT, ... ], ... }, whose items
 * come out one by one, so that a list of tens of megabytes takes the memory of
 * its largest item.  Whether an object is valid inside, its reader will see.
 */
#ifndef NFDNS_RESOLVER_FEED_JSON_SPLIT_H
#define NFDNS_RESOLVER_FEED_JSON_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/json_scan.h"

/* Octets of an object; those of a list but for its items have a limit too. */
#define JSON_SPLIT_MAX_OBJECT	((size_t)16 << 20)
#define JSON_SPLIT_MAX_HEAD	((size_t)64 << 10)

struct json_split_text {
	char *text;
	size_t used;
	size_t size;
};

/* Start from JSON_SPLIT_INIT; owns its memory. */
struct json_split {
	struct json_split_text kept;	/* from the object that began last */
	struct json_split_text head;	/* a list without its items */
	size_t at;			/* of "kept": looked at so far */
	size_t begin;			/* of "kept": where the object begins */
	size_t braces;			/* open in the object; 0: in none */
	size_t key;			/* of "head": the string that ended last */
	unsigned int depth;		/* of the list, outside its items */
	bool list;
	bool in_items;
	bool quoted;			/* in a string */
	bool escaped;			/* behind a backslash */
	bool whole;			/* the list has ended */
};

#define JSON_SPLIT_INIT { .kept = { .text = NULL } }

/* For the next stream, with the same memory. */
void json_split_begin(struct json_split *split, bool list);

/* Appends what has arrived.  Returns 0 or -ENOMEM. */
int json_split_add(struct json_split *split, const void *octets,
    size_t length) __attribute__((warn_unused_result));

/*
 * The next whole object.  Returns 1 and *object, good until the next call; 0 if
 * there is none yet; -EBADMSG if no object stands where one must, -EMSGSIZE if
 * it is too long, -ENOMEM.
 */
int json_split_next(struct json_split *split, struct json_range *object)
    __attribute__((warn_unused_result));

/* Whether the stream may end here: behind an object, or behind the list. */
bool json_split_is_whole(const struct json_split *split);

/* The list as it came, but with nothing in "items".  Good until begun anew. */
struct json_range json_split_head(const struct json_split *split);

void json_split_free(struct json_split *split);

#endif
