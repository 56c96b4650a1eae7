/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "resolver/text/json_tree.h"

json_t *
json_tree_take(struct json_tree *tree, const struct json_range *range,
    int *error, const char **why, unsigned int *line)
{
	static bool seeded;
	json_error_t *fault = &tree->fault;
	size_t seed = 0;
	char *end;

	/* Against names that collide.  jansson's own way is /dev/urandom. */
	if (!seeded && getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
		json_object_seed(seed);
	seeded = true;
	json_tree_free(tree);
	*error = -EINVAL;
	*line = range->line;
	if (range->length > JSON_TREE_MOST) {
		*why = "more than 16 MiB";
		return NULL;
	}
	if (memchr(range->text, '\0', range->length) != NULL) {
		*why = "a NUL";
		return NULL;
	}
	tree->root = json_loadb(range->text, range->length, JSON_DECODE_ANY |
	    JSON_REJECT_DUPLICATES, fault);
	if (tree->root != NULL) {
		*error = 0;
		return tree->root;
	}
	if (json_error_code(fault) == json_error_out_of_memory) {
		*error = -ENOMEM;
		return NULL;
	}
	/* What stands there is a stranger's text; "without" names flags. */
	if ((end = strstr(fault->text, " near ")) != NULL)
		*end = '\0';
	if ((end = strstr(fault->text, " without JSON_")) != NULL)
		*end = '\0';
	*why = fault->text;
	if (fault->line > 0)
		*line += (unsigned int)fault->line - 1;
	return NULL;
}

void
json_tree_free(struct json_tree *tree)
{
	json_decref(tree->root);
	tree->root = NULL;
}

bool
json_tree_integer(const json_t *value, long long min, long long max,
    long long *number)
{
	if (!json_is_integer(value) || json_integer_value(value) < min ||
	    json_integer_value(value) > max)
		return false;
	*number = json_integer_value(value);
	return true;
}
