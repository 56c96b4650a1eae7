/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of one IP packet as it comes from the queue (from the IP header on),
 * and the headers of the packet that turns it round.  Bounds are checked here
 * and nowhere else.
 */
#ifndef NFDNS_NFQ_PACKET_PACKET_H
#define NFDNS_NFQ_PACKET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a packet is not for us; PACKET_OK when it is. */
enum packet_form {
	PACKET_OK,		/* plain, whole, unfragmented UDP to port 53 */
	PACKET_STREAM,		/* the first packet of a TCP connection to port 53 */
	PACKET_FRAGMENT,
	PACKET_NOT_UDP,		/* nor that; or a header that cannot be turned round */
	PACKET_NOT_DNS,		/* another port */
	PACKET_ADDRESS,		/* no answer may come from there, or go there */
	PACKET_MALFORMED,	/* lengths that do not agree, headers cut off */
	PACKET_UNREAD,		/* not looked at, on purpose */
};

/* The longest headers that are turned round, UDP's included. */
#define PACKET_HEADERS_MAX 512

/*
 * Borrows the packet's octets.  All of it means something when the form is
 * PACKET_OK; all but the payload with PACKET_STREAM; source and destination
 * whenever family is not 0.
 */
struct packet {
	uint8_t family;		/* AF_INET, AF_INET6; 0 if not even that is known */
	uint8_t protocol;	/* IPPROTO_UDP or IPPROTO_TCP */
	uint16_t source_port;
	const uint8_t *octets;
	size_t ip_header;	/* octets before UDP or TCP: options and extension headers too */
	const uint8_t *source;	/* 4 or 16 octets */
	const uint8_t *destination;
	uint16_t destination_port;
	const uint8_t *payload;	/* of UDP */
	size_t payload_length;
};

/*
 * Any octets are allowed.  IPv4 with options; IPv6 with hop-by-hop and
 * destination options (RFC 8200 section 4); source routes, routing headers
 * (RFC 5095) and home addresses (RFC 6275) are not turned round.  The length
 * fields must agree with length and with each other, so jumbograms are
 * MALFORMED.  Checksums are not looked at: on the way out they may be partial.
 */
enum packet_form packet_parse(struct packet *packet, const uint8_t *octets,
    size_t length);

/* The DNS answer starts at this offset of the reply. */
size_t packet_reply_offset(const struct packet *packet);

/*
 * Writes the headers of the answer to packet before payload_length octets that
 * already stand at packet_reply_offset() in reply: addresses and ports
 * swapped, IP options and header length kept, lengths and all checksums ours
 * (IPv4 header RFC 791; UDP RFC 768, RFC 8200 section 8.1: 0 is sent as
 * 0xffff), TTL and hop limit fresh, everything else as in the question.  reply
 * has room for the whole, which is below 64 KiB.  Returns the packet's length.
 */
size_t packet_reply(const struct packet *packet, uint8_t *reply,
    size_t payload_length);

#endif
