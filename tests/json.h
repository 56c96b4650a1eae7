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
static inline const struct json_node *
json_read(const char *text, size_t length)
{
	static struct json_tree tree = JSON_TREE_INIT;
	const struct json_range whole = { .text = text, .length = length,
	    .line = 1 };
	const struct json_node *root;
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
json_size(const struct json_node *node)
{
	size_t count = 0;

	if (node == NULL || (node->kind != JSON_KIND_ARRAY &&
	    node->kind != JSON_KIND_OBJECT))
		return 0;
	for (node = node->first; node != NULL; node = node->next)
		count++;
	return count;
}

/* Follows "a.b.c"; a number is an index. */
static inline const struct json_node *
at(const struct json_node *value, const char *path)
{
	char key[32];

	while (*path != '\0' && value != NULL) {
		const size_t length = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		if (value->kind == JSON_KIND_ARRAY) {
			value = value->first;
			for (size_t i = strtoul(key, NULL, 10); i > 0 &&
			    value != NULL; i--)
				value = value->next;
		} else
			value = json_tree_member(value, key);
		path += length + (path[length] == '.');
	}
	return value;
}

static inline bool
is_text(const struct json_node *root, const char *path, const char *expected)
{
	const char *text = json_tree_string(at(root, path));

	if (text != NULL && strcmp(text, expected) == 0)
		return true;
	printf("  %s is %s\n", path, text != NULL ? text : "no text");
	return false;
}

static inline bool
is_number(const struct json_node *root, const char *path, long long expected)
{
	long long number;

	return json_tree_integer(at(root, path), expected, expected, &number);
}

static inline bool
is(const struct json_node *root, const char *path, enum json_kind kind)
{
	return json_tree_is(at(root, path), kind);
}

#endif
