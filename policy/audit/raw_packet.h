/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IP packets of a record's messages, made from its addresses and ports,
 * since a record keeps no packet.  Lengths and checksums are right; what the
 * record does not know has the usual value: TTL 64, no options.
 *
 * Over UDP a message is one packet.  Over TCP each record is a connection of
 * its own, which begins with its first data: the SYN segments carry the
 * messages, each behind its two octets of length (RFC 7766 section 8).  The
 * numbers of the real connection are unknown, and numbers of our own cannot
 * stay without gaps where records are lost or filtered; but after a SYN every
 * reader expects a new beginning.
 */
#ifndef NFDNS_POLICY_AUDIT_RAW_PACKET_H
#define NFDNS_POLICY_AUDIT_RAW_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/audit/audit.h"

/* Octets of the largest packet that raw_packet_put() makes. */
#define RAW_PACKET_MAX 65535U

/* Packets of one message at most; see raw_packet_put(). */
#define RAW_PACKETS_MAX 2

/*
 * Puts the packet that carries the message from *offset on, of the answer or of
 * the question, and moves *offset behind what it carries; 0 is the beginning.
 * Returns its octets, at most RAW_PACKET_MAX; "to" has room for the headers (60
 * octets) and the rest of the message.  *last: no packet of it follows.
 */
size_t raw_packet_put(const struct audit_record *record, bool answer,
    size_t *offset, bool *last, uint8_t *to);

#endif
