/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One JSON value (RFC 8259) as a tree to look around in.  json_scan.h walks
 * the large text, this takes apart one item of it at a time and uses the same
 * memory again for the next: no allocation for each value.
 */
#ifndef NFDNS_RESOLVER_TEXT_JSON_TREE_H
#define NFDNS_RESOLVER_TEXT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/json_scan.h"

enum json_kind {
	JSON_KIND_NULL,
	JSON_KIND_FALSE,
	JSON_KIND_TRUE,
	JSON_KIND_NUMBER,
	JSON_KIND_STRING,
	JSON_KIND_ARRAY,
	JSON_KIND_OBJECT,
};

/* Good until the tree takes the next value. */
struct json_node {
	enum json_kind kind;
	bool integer;			/* a number without fraction and exponent */
	const char *key;		/* of an object's member; else NULL */
	const struct json_node *next;	/* in the same array or object */
	const struct json_node *first;	/* of an array's or object's own */
	union {
		const char *text;	/* string, decoded, without NUL inside */
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
 * Takes the value in the range, which json_scan_value() yielded.  Returns it;
 * or NULL and *error: -ENOMEM, or -EINVAL with *why a static text and *line
 * where.
 */
const struct json_node *json_tree_take(struct json_tree *tree,
    const struct json_range *range, int *error, const char **why,
    unsigned int *line);

void json_tree_free(struct json_tree *tree);

/*
 * All of these allow NULL for a node that is not there, so that a path is
 * followed without a check at each step.  The first of several members with
 * one name counts.
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
