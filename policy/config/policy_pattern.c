/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "resolver/idn.h"

/*
 * Whether it is made of what names are made of, escapes and octets of UTF-8:
 * anything else belongs to another format, and would match nothing.
 */
static bool
is_written_well(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const uint8_t c = (uint8_t)text[i];

		if (c == '\\')
			i++;
		else if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !(c >= '0' && c <= '9') && c != '.' && c != '-' &&
		    c != '_' && c < 0x80)
			return false;
	}
	return true;
}

int
policy_pattern_read(struct policy_name *name, const char *text, size_t length)
{
	const bool all = length == 1 && text[0] == '*';
	size_t skip = 0;
	int error;

	name->kind = POLICY_EXACT;
	if (all || (length >= 2 && memcmp(text, "*.", 2) == 0)) {
		name->kind = POLICY_BELOW;
		skip = all ? 1 : 2;
	} else if (length >= 2 && text[0] == '.') {
		name->kind = POLICY_WITHIN;
		skip = 1;
	}
	if (length == 0 || !is_written_well(text + skip, length - skip))
		return -EINVAL;
	error = idn_name_from_text(&name->name, text + skip, length - skip);
	/* Nobody means all names by "*." or "..". */
	if (error == 0 && name->name.labels == 0 && skip > 0 && !all)
		error = -EINVAL;
	if (error == 0)
		name_lower(&name->name);
	return error;
}

const char *
policy_pattern_why(int error)
{
	switch (error) {
	case -ENAMETOOLONG:
		return "has a label over 63 octets, or is over 255 octets long";
	case -EILSEQ:
		return IDN_REFUSED;
	default:
		return "is not a valid domain name";
	}
}
