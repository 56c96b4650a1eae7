/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one JSON value (RFC 8259) into a tree.  It is the project's only reader
 * of JSON; what it reads may be hostile.
 *
 * A large text is walked with json_scan.h, and each item of it is taken with
 * the same tree: the memory is used again, and no value costs an allocation.
 * Messages that come one after another are taken the same way, and so is a
 * whole file: its range begins on line 1.
 *
 * Stricter than the RFC demands, so that no two readers see different things
 * in one text: two members of an object may not have the same name, and
 * strings are UTF-8 (RFC 3629) without NUL; an escape that is half of a
 * surrogate pair is an error.
 *
 * Limits: JSON_SCAN_MAX_DEPTH levels of nesting, JSON_TREE_MAX_VALUES values.
 * The length of the text is for the caller to limit.  Memory: 1.5 times the
 * longest text and 40 octets for each value of the largest one (80 MB at the
 * limit), until json_tree_free().  Time: proportional to the text; the names of
 * an object's members are sorted.
 */
#ifndef NFDNS_RESOLVER_TEXT_JSON_TREE_H
#define NFDNS_RESOLVER_TEXT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/json_scan.h"

/* Values in a tree, those inside of others included; more is an error. */
#define JSON_TREE_MAX_VALUES 2000000

enum json_kind {
	JSON_KIND_NULL,
	JSON_KIND_FALSE,
	JSON_KIND_TRUE,
	JSON_KIND_NUMBER,
	JSON_KIND_STRING,
	JSON_KIND_ARRAY,
	JSON_KIND_OBJECT,
};

/* Owned by its tree; valid until the tree takes the next value. */
struct json_node {
	enum json_kind kind;
	bool integer;			/* a number without fraction and exponent */
	const char *key;		/* of an object's member; else NULL */
	const struct json_node *next;	/* in the same array or object */
	const struct json_node *first;	/* of an array's or object's own */
	union {
		const char *text;	/* string: decoded, ends with NUL */
		long long number;	/* integer, at its limits if beyond them */
	};
};

/* Start from JSON_TREE_INIT; owns its memory. */
struct json_tree {
	char *text;
	size_t text_size;
	struct json_block *block;	/* the first; they stay for the next value */
	struct json_block *last;
	size_t used;			/* nodes of the last one */
};

#define JSON_TREE_INIT { .text = NULL }

/*
 * Takes the value that the range holds: one of json_scan_value(), or a whole
 * text with .line = 1.  Copies the range, so the text may go afterwards.
 * Returns the value, and 0 in *error; or NULL and
 *   -ENOMEM
 *   -EINVAL	it is not JSON, or beyond a limit: *why says what is wrong (a
 *		static text), *line on which line
 */
const struct json_node *json_tree_take(struct json_tree *tree,
    const struct json_range *range, int *error, const char **why,
    unsigned int *line);

void json_tree_free(struct json_tree *tree);

/*
 * All of these allow NULL for a node that is not there, so that a path is
 * followed without a check at each step.
 *
 * The member of that name; NULL if there is none or it is no object.  Looks
 * through all members: in a loop, look it up before.
 */
const struct json_node *json_tree_member(const struct json_node *object,
    const char *key);

/* The text of a string; NULL for everything else. */
const char *json_tree_string(const struct json_node *node);

/* The first item of an array; NULL if there is none or it is no array. */
const struct json_node *json_tree_items(const struct json_node *array);

/* Whether it is an integer from min to max; then *number is set. */
bool json_tree_integer(const struct json_node *node, long long min,
    long long max, long long *number);

bool json_tree_is(const struct json_node *node, enum json_kind kind);

#endif
