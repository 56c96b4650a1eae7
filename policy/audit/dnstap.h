/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit records as dnstap: the format "dnstap".  A record is a CLIENT_QUERY and,
 * unless the question passed or was dropped, a CLIENT_RESPONSE, each a data
 * frame of Frame Streams.  The last of them has, as "extra", what the comment of
 * the format "pcapng" has.  Notes are messages of the type TOOL_QUERY with no
 * addresses.
 *
 * Messages: dnstap.proto of the dnstap project; frames: the header fstrm.h of
 * libfstrm.  Both are written here, since libfstrm's writer needs a thread of
 * its own and opens its files itself.
 */
#ifndef NFDNS_POLICY_AUDIT_DNSTAP_H
#define NFDNS_POLICY_AUDIT_DNSTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"
#include "policy/audit/format.h"

/* Octets of a frame besides its DNS message. */
#define AUDIT_DNSTAP_AROUND (256 + AUDIT_RULE_MAX)
#define AUDIT_DNSTAP_MAX (2 * (UINT16_MAX + AUDIT_DNSTAP_AROUND) + \
    AUDIT_RECORD_TEXT)

extern const struct audit_format audit_dnstap_format;

#endif
