/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads one JSON value (RFC 8259), which may be hostile, through jansson.  A large
 * text is walked with json_scan.h, and each item of it is taken; so are messages
 * that come one after another, and so is a whole file: its range begins on line 1.
 *
 * Two members of an object may not have the same name, and there is no NUL in a
 * string: no two readers see different things in one text.
 */
#ifndef NFDNS_RESOLVER_TEXT_JSON_TREE_H
#define NFDNS_RESOLVER_TEXT_JSON_TREE_H

#include <jansson.h>
#include <stdbool.h>

#include "resolver/text/json_scan.h"

/* Octets of a text; full of empty objects, it takes 77 times as much memory. */
#define JSON_TREE_MOST	((size_t)16 << 20)

/* Start from JSON_TREE_INIT; owns its value. */
struct json_tree {
	json_t *root;
	json_error_t fault;
};

#define JSON_TREE_INIT { .root = NULL }

/*
 * Takes the value that the range holds: one of json_scan_value(), or a whole text
 * with .line = 1.  Returns the value, which is the tree's until it takes the next
 * one, and 0 in *error; or NULL and
 *   -ENOMEM
 *   -EINVAL	it is not JSON, or beyond a limit: *why says what is wrong (it is
 *		the tree's), *line on which line
 */
json_t *json_tree_take(struct json_tree *tree, const struct json_range *range,
    int *error, const char **why, unsigned int *line);

void json_tree_free(struct json_tree *tree);

/* Whether it is an integer from min to max; then *number is set.  NULL is none. */
bool json_tree_integer(const json_t *value, long long min, long long max,
    long long *number);

#endif
