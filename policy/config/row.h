/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the rows of a table of options are written; its file includes this. */
#ifndef NFDNS_POLICY_CONFIG_ROW_H
#define NFDNS_POLICY_CONFIG_ROW_H

#include <stddef.h>

#include "policy/config/value.h"

#define IN(structure, member) \
	.offset = offsetof(struct structure, member), \
	.size = sizeof(((struct structure *)NULL)->member)

#define STRING		.types = OPTION_STRING
#define INTEGER		.types = OPTION_INTEGER
#define BOOLEAN		.types = OPTION_BOOLEAN, .read = config_read_boolean
#define STRINGS		.types = OPTION_STRING, .list = true
#define STRINGS_INTEGERS .types = OPTION_STRING | OPTION_INTEGER, .list = true
#define GROUPS		.types = OPTION_GROUP, .list = true
#define RANGE(low, high) .min = (low), .max = (high), .read = config_read_number
#define LABEL	"letters, digits, '-', '_', '.' and '/', at most 253"
#define CHOICE(texts)	.choices = (texts), .read = config_read_choice

#endif
