/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and resource records of a DNS message as EVE has them in JSON.  All
 * octets are read within bounds; whatever they hold, what is put is valid.
 */
#ifndef NFDNS_POLICY_AUDIT_JSON_RECORD_H
#define NFDNS_POLICY_AUDIT_JSON_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/json_out.h"
#include "resolver/dns/wire.h"

/* The question's name, where it stands in the line; length 0 if it does not. */
struct json_asked {
	const char *text;
	size_t length;
};

/* Room that json_records() leaves for what follows. */
#define JSON_RECORDS_RESERVE (640 + 5 * AUDIT_RULE_MAX)

/*
 * Reads a name, which may be compressed, and puts it.  False, and the reader
 * failed, if there is none.
 */
bool json_record_name(struct json_out *out, struct wire_reader *r);

/*
 * Members "answers" and "grouped", for the answer section that the reader
 * stands before: as many of its "count" records as are whole and leave room;
 * the others are counted in "answers_omitted".
 */
void json_records(struct json_out *out, struct wire_reader *r,
    const struct json_asked *asked, uint16_t count);

#endif
