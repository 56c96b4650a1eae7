/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON that a test reads back: strictly, no name twice in an object. */
#ifndef NFDNS_TESTS_JSON_H
#define NFDNS_TESTS_JSON_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"

/* NULL after a message.  Valid until the next one is read. */
static inline const json_t *
json_read(const char *text, size_t length)
{
	static struct json_tree tree = JSON_TREE_INIT;
	const struct json_range whole = { .text = text, .length = length,
	    .line = 1 };
	const json_t *root;
	unsigned int where;
	const char *why;
	int error;

	root = json_tree_take(&tree, &whole, &error, &why, &where);
	if (root == NULL)
		printf("  %s: %.*s\n", why, (int)length, text);
	return root;
}

/* The items of an array, the members of an object. */
static inline size_t
json_size(const json_t *node)
{
	return json_is_array(node) ? json_array_size(node) :
	    json_object_size(node);
}

/* Follows "a.b.c"; a number is an index. */
static inline const json_t *
at(const json_t *value, const char *path)
{
	char key[32];

	while (*path != '\0' && value != NULL) {
		const size_t length = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		value = json_is_array(value) ?
		    json_array_get(value, strtoul(key, NULL, 10)) :
		    json_object_get(value, key);
		path += length + (path[length] == '.');
	}
	return value;
}

static inline bool
is_text(const json_t *root, const char *path, const char *expected)
{
	const char *text = json_string_value(at(root, path));

	if (text != NULL && strcmp(text, expected) == 0)
		return true;
	printf("  %s is %s\n", path, text != NULL ? text : "no text");
	return false;
}

static inline bool
is_number(const json_t *root, const char *path, long long expected)
{
	long long number;

	return json_tree_integer(at(root, path), expected, expected, &number);
}

static inline bool
is(const json_t *root, const char *path, json_type type)
{
	return at(root, path) != NULL && json_typeof(at(root, path)) == type;
}

#endif
