/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Audit records as lines of EVE JSON: the format "json". */
#ifndef NFDNS_POLICY_AUDIT_JSON_H
#define NFDNS_POLICY_AUDIT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/format.h"

/*
 * A piece of a line that is usually the same in the next line: its text, and
 * the values that it was made from.
 */
struct audit_json_piece {
	uint64_t key[3];
	size_t length;			/* 0: none yet */
	char text[232];
};

/* What the format keeps from line to line; starts with zeros. */
struct audit_json {
	struct audit_json_piece second, source, destination, flags, outcome;
};

/*
 * One record as a line with the final newline, into buf, which has room for
 * AUDIT_JSON_MAX.  Returns the length.  Answers that would not fit are left
 * out and counted ("answers_omitted"); about 110 addresses fit.
 */
#define AUDIT_JSON_MAX 16384
size_t audit_json(struct audit_json *json, const struct audit_record *record,
    char *buf, size_t size);

#define AUDIT_JSON_NOTE_MAX (128 + AUDIT_NOTE_TEXT)

extern const struct audit_format audit_json_format;

#endif
