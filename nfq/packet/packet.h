/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of one IP packet from the queue, which begins with the IP header, and
 * the headers of the reply.  All bounds of the packet are checked here.
 */
#ifndef NFDNS_NFQ_PACKET_PACKET_H
#define NFDNS_NFQ_PACKET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a packet is not for us; PACKET_OK when it is. */
enum packet_form {
	PACKET_OK,		/* plain, whole, unfragmented UDP to port 53 */
	PACKET_STREAM,		/* first packet of a TCP connection to port 53 */
	PACKET_FRAGMENT,
	PACKET_NOT_UDP,		/* neither; or a header that a reply cannot keep */
	PACKET_NOT_DNS,		/* another port */
	PACKET_ADDRESS,		/* no reply from or to such an address or port */
	PACKET_MALFORMED,	/* contradictory lengths, truncated headers */
	PACKET_UNTAKEN,		/* intercept_untaken() */
};

/* The longest headers of a packet that is answered, UDP's included. */
#define PACKET_HEADERS_MAX 512

/*
 * Borrows the packet's octets.  All members are set if the form is PACKET_OK;
 * all but the payload's if it is PACKET_STREAM; source and destination whenever
 * family is not 0.
 */
struct packet {
	uint8_t family;		/* AF_INET or AF_INET6; 0: not known */
	uint8_t protocol;	/* IPPROTO_UDP or IPPROTO_TCP */
	uint16_t source_port;
	const uint8_t *octets;
	size_t ip_header;	/* octets before UDP or TCP, with options */
	const uint8_t *source;	/* 4 or 16 octets */
	const uint8_t *destination;
	uint16_t destination_port;
	const uint8_t *payload;	/* of UDP */
	size_t payload_length;
	size_t missing;		/* octets at its end that the queue has cut off */
};

/*
 * Parses any octets.  Accepts IPv4 with options and IPv6 with hop-by-hop and
 * destination options (RFC 8200 section 4), but no source route, routing header
 * (RFC 5095) or home address (RFC 6275).  "length" octets are there of the
 * packet's whole_length; the length fields must agree with that or, where the queue
 * has cut it, with what is there, so jumbograms are MALFORMED.  Checksums are not
 * checked: in outgoing packets they may be partial.
 */
enum packet_form packet_parse(struct packet *packet, const uint8_t *octets,
    size_t length, size_t whole_length);

/*
 * For a packet that is PACKET_OK with octets missing: whether its length fields are
 * those of the whole packet.
 */
bool packet_is_cut(const struct packet *packet, size_t whole_length);

/* The offset of the DNS answer in the reply. */
size_t packet_reply_offset(const struct packet *packet);

/*
 * Writes the headers of the reply to "packet".  Its payload_length octets stand
 * at packet_reply_offset() in reply already.  Addresses and ports are swapped;
 * IP options and header length stay; lengths, checksums (IPv4 header: RFC 791;
 * UDP: RFC 768, and RFC 8200 section 8.1: 0 is sent as 0xffff), TTL and hop
 * limit are new; everything else is as in the question.  reply has room for the
 * whole packet, which is smaller than 64 KiB.  Returns the packet's length.
 */
size_t packet_reply(const struct packet *packet, uint8_t *reply,
    size_t payload_length);

#endif
