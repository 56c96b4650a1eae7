/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sink leaves out of a record, or makes unreadable. */
#ifndef NFDNS_POLICY_AUDIT_PRIVACY_H
#define NFDNS_POLICY_AUDIT_PRIVACY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "resolver/dns/message.h"

/* A header, a name of one label of 16 octets, type and class. */
#define PRIVACY_MESSAGE (DNS_HEADER + 1 + 16 + 1 + 4)

/* A record with less in it, and the messages that it borrows. */
struct private_record {
	struct audit_record record;
	uint8_t question[PRIVACY_MESSAGE], answer[PRIVACY_MESSAGE];
};

/* Whether the sink's records are not those of others. */
bool privacy_is_wanted(const struct audit_sink *sink);

/*
 * The record as the sink may show it.  With hashed names the messages keep
 * header, type and class; the name becomes 16 hexadecimal digits, the same for
 * the same name and key, and records, which would tell the name, are left out.
 */
void privacy_apply(struct private_record *to, const struct audit_sink *sink,
    const struct audit_record *record);

#endif
