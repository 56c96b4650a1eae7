/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for every answer, whatever was asked and is in the table. */
#ifndef NFDNS_TESTS_ANSWER_FAULT_H
#define NFDNS_TESTS_ANSWER_FAULT_H

#include <stdbool.h>	/* before ldns.h, which else makes a bool of its own */
#include <ldns/ldns.h>
#include <string.h>

#include "resolver/answer/answer.h"

/* What a UDP client and our own cap leave room for, octets. */
static inline size_t
answer_room(const struct question *q, size_t udp_size)
{
	size_t client = q->edns.present && q->edns.udp_size > 512 ?
	    q->edns.udp_size : 512;
	size_t own = udp_size > 512 ? udp_size : 512;

	return client < own ? client : own;
}

static inline const char *
answer_packet_fault(const struct question *q, const ldns_pkt *p,
    const struct answer_summary *summary)
{
	if (ldns_pkt_id(p) != q->id)
		return "another id";
	if (!ldns_pkt_qr(p) || !ldns_pkt_aa(p) || !ldns_pkt_ra(p))
		return "QR, AA or RA is clear";
	if (ldns_pkt_rd(p) != ((q->flags & 0x0100) != 0) ||
	    ldns_pkt_cd(p) != ((q->flags & 0x0010) != 0))
		return "RD or CD is not the question's";
	if (ldns_pkt_ad(p) || ldns_pkt_get_opcode(p) != LDNS_PACKET_QUERY)
		return "AD set, or another opcode";
	if (ldns_pkt_edns(p) != q->edns.present)
		return "OPT in one of question and answer only";
	if (ldns_pkt_edns(p) && (ldns_pkt_edns_version(p) != 0 ||
	    ldns_pkt_edns_do(p) != q->edns.dnssec_ok))
		return "EDNS version or DO is wrong";
	if (ldns_pkt_ancount(p) != summary->answers ||
	    ldns_pkt_tc(p) != summary->truncated)
		return "the summary is not the answer's";
	return NULL;
}

/* NULL, or what is wrong with the answer; the question's view must be valid. */
static inline const char *
answer_fault(const struct question *q, const uint8_t *answer, size_t length,
    size_t room, const struct answer_summary *summary)
{
	ldns_pkt *packet = NULL;
	const char *fault;

	if (length > room)
		return "longer than there is room";
	if (length < 12 + q->wire_length || answer[5] != (q->wire_length > 0))
		return "no question where there was one, or the reverse";
	if (q->wire_length > 0 &&
	    memcmp(answer + 12, q->wire, q->wire_length) != 0)
		return "the question is not echoed octet for octet";
	if (answer[3] & 0x40)
		return "Z is set";
	if (ldns_wire2pkt(&packet, answer, length) != LDNS_STATUS_OK)
		return "ldns cannot parse it";
	fault = answer_packet_fault(q, packet, summary);
	ldns_pkt_free(packet);
	return fault;
}

#endif
