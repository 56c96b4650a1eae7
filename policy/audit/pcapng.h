/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit records as packets that Wireshark opens: the format "pcapng"
 * (draft-ietf-opsawg-pcapng).  Each opening of a file begins a section, so a
 * file may be appended to, and files may be concatenated.
 */
#ifndef NFDNS_POLICY_AUDIT_PCAPNG_H
#define NFDNS_POLICY_AUDIT_PCAPNG_H

#include <stddef.h>

#include "policy/audit/audit.h"
#include "policy/audit/format.h"
#include "policy/audit/raw_packet.h"

/* Octets around a packet: the block, padding, options but the comment. */
#define AUDIT_PCAPNG_AROUND 128
/* Octets of a comment, every octet of the rule's name escaped. */
#define AUDIT_PCAPNG_COMMENT AUDIT_RECORD_TEXT
/*
 * A record is its question and its answer, both of which may take two packets,
 * and one comment.
 */
#define AUDIT_PCAPNG_MAX (2 * (UINT16_MAX + 2 + \
    RAW_PACKETS_MAX * (60 + AUDIT_PCAPNG_AROUND)) + AUDIT_PCAPNG_COMMENT)

/*
 * Puts a record into buf, which has AUDIT_PCAPNG_MAX octets; returns how many it
 * put.  The state is not used.
 */
size_t audit_pcapng(void *state, const struct audit_record *record, char *buf);

extern const struct audit_format audit_pcapng_format;

#endif
