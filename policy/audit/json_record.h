/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and resource records of a DNS message in the JSON of EVE.  Octets are
 * read within bounds, and the output is valid JSON whatever they are.
 */
#ifndef NFDNS_POLICY_AUDIT_JSON_RECORD_H
#define NFDNS_POLICY_AUDIT_JSON_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/json_out.h"
#include "resolver/dns/name.h"
#include "resolver/dns/wire.h"

/* The question's name in the line; length 0 if it is not there. */
struct json_asked {
	const char *text;
	size_t length;
};

/* Octets that json_records() leaves free for the rest of the line. */
#define JSON_RECORDS_RESERVE (800 + 2 * 5 * AUDIT_RULE_MAX + 5 * NAME_MAX_OCTETS)

/*
 * Reads a name, which may be compressed, and puts it.  False if there is no
 * valid name; then the reader has failed.
 */
bool json_record_name(struct json_out *out, struct wire_reader *r);

/*
 * Puts the members "answers" and "grouped" for the answer section at the
 * reader; neither is ever empty.  Returns how many records are not put: they are
 * cut off, or there is no room for them.
 */
unsigned int json_records(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked, uint16_t count);

#endif
