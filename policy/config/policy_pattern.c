/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/policy_pattern.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Whether a star stands in it that no backslash stands before. */
static bool
has_star(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '*')
			return true;
	}
	return false;
}

int
policy_pattern_read(struct policy_name *name, const char *text, size_t length)
{
	size_t skip = 0;
	int error;

	name->kind = POLICY_EXACT;
	if (length == 1 && text[0] == '*') {
		name->kind = POLICY_BELOW;
		skip = 1;
	} else if (length >= 2 && memcmp(text, "*.", 2) == 0) {
		name->kind = POLICY_BELOW;
		skip = 2;
	} else if (length >= 2 && text[0] == '.') {
		name->kind = POLICY_WITHIN;
		skip = 1;
	}
	if (length == 0 || has_star(text + skip, length - skip))
		return -EINVAL;
	error = name_from_text(&name->name, text + skip, length - skip);
	if (error == 0)
		name_lower(&name->name);
	return error;
}
