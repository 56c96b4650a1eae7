/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/raw_packet.h"

#include <sys/socket.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "resolver/checksum.h"
#include "resolver/dns/wire.h"

#define IPV4_HEADER	20U
#define IPV6_HEADER	40U
#define UDP_HEADER	8U
#define TCP_HEADER	20U
#define LENGTH_PREFIX	2U
#define TTL		64

/* Octets of a message in one packet: any family and any protocol holds them. */
#define PAYLOAD_MAX	(RAW_PACKET_MAX - IPV6_HEADER - TCP_HEADER)

static_assert(RAW_PACKETS_MAX * PAYLOAD_MAX >= UINT16_MAX + LENGTH_PREFIX,
    "the largest message over TCP");

#define TCP_SYN		0x02U
#define TCP_PSH		0x08U
#define TCP_ACK		0x10U

/* The ends of a packet, and what it carries of a message. */
struct ends {
	const uint8_t *source, *destination;
	uint16_t source_port, destination_port;
	const uint8_t *message;
	uint16_t length;
};

static struct ends
ends_of(const struct audit_record *r, bool answer)
{
	if (answer)
		return (struct ends){ r->server, r->client, r->server_port,
			r->client_port, r->answer, r->answer_length };
	return (struct ends){ r->client, r->server, r->client_port,
		r->server_port, r->question, r->question_length };
}

static uint8_t
protocol_of(const struct audit_record *r)
{
	return r->stream ? IPPROTO_TCP : IPPROTO_UDP;
}

static size_t
address_octets(const struct audit_record *r)
{
	return r->family == AF_INET ? 4 : 16;
}

static size_t
ip_octets(const struct audit_record *r)
{
	return r->family == AF_INET ? IPV4_HEADER : IPV6_HEADER;
}

static void
put_checksum(uint8_t *to, uint64_t sum)
{
	const uint16_t checksum = checksum_finish(sum);

	memcpy(to, &checksum, sizeof(checksum));
}

/* RFC 791 section 3.1; fragments of such a packet are not wanted. */
static void
put_ipv4(const struct ends *ends, uint8_t protocol, size_t length, uint8_t *to)
{
	memset(to, 0, IPV4_HEADER);
	to[0] = 0x45;
	wire_store_u16(to + 2, (uint16_t)(IPV4_HEADER + length));
	to[6] = 0x40;
	to[8] = TTL;
	to[9] = protocol;
	memcpy(to + 12, ends->source, 4);
	memcpy(to + 16, ends->destination, 4);
	put_checksum(to + 10, checksum_add(0, to, IPV4_HEADER));
}

/* RFC 8200 section 3. */
static void
put_ipv6(const struct ends *ends, uint8_t protocol, size_t length, uint8_t *to)
{
	wire_store_u32(to, UINT32_C(6) << 28);
	wire_store_u16(to + 4, (uint16_t)length);
	to[6] = protocol;
	to[7] = TTL;
	memcpy(to + 8, ends->source, 16);
	memcpy(to + 24, ends->destination, 16);
}

/* The sum over a pseudo header and what is behind the header of IP. */
static uint64_t
transport_sum(const struct audit_record *r, const uint8_t *octets,
    size_t length)
{
	uint64_t sum = checksum_add(0, r->client, address_octets(r));

	sum = checksum_add(sum, r->server, address_octets(r));
	sum = checksum_add_u16(sum, protocol_of(r));
	sum = checksum_add_u16(sum, (uint16_t)length);
	return checksum_add(sum, octets, length);
}

/* RFC 768.  Returns the octets of header and message. */
static size_t
put_udp(const struct audit_record *r, const struct ends *ends, size_t *offset,
    uint8_t *to)
{
	const size_t carried = ends->length < PAYLOAD_MAX ? ends->length :
	    PAYLOAD_MAX;
	const size_t length = UDP_HEADER + carried;

	wire_store_u16(to, ends->source_port);
	wire_store_u16(to + 2, ends->destination_port);
	wire_store_u16(to + 4, (uint16_t)length);
	wire_store_u16(to + 6, 0);
	if (carried > 0)
		memcpy(to + UDP_HEADER, ends->message, carried);
	put_checksum(to + 6, transport_sum(r, to, length));
	/* Zero would say that there is no checksum. */
	if ((to[6] | to[7]) == 0)
		to[6] = to[7] = 0xff;
	/* No real packet has more, so nothing is cut. */
	*offset = ends->length;
	return length;
}

/*
 * The number of a direction's SYN: two records of a connection differ in the
 * time of their decisions, so their numbers differ, too.
 */
static uint32_t
first_number(const struct audit_record *r, bool answer)
{
	const uint32_t number = (uint32_t)r->time_ns;

	return answer ? ~number : number;
}

/* RFC 9293 section 3.1.  The answer acknowledges all of the question. */
static void
put_tcp_header(const struct audit_record *r, const struct ends *ends,
    bool answer, size_t offset, uint8_t *to)
{
	const bool first = offset == 0;
	uint32_t acknowledged = 0;
	unsigned int flags = TCP_PSH;

	if (first)
		flags |= TCP_SYN;
	if (answer)
		acknowledged = first_number(r, false) + 1 + LENGTH_PREFIX +
		    r->question_length;
	else if (!first)
		acknowledged = first_number(r, true);
	if (answer || !first)
		flags |= TCP_ACK;
	wire_store_u16(to, ends->source_port);
	wire_store_u16(to + 2, ends->destination_port);
	wire_store_u32(to + 4, first_number(r, answer) + !first +
	    (uint32_t)offset);
	wire_store_u32(to + 8, acknowledged);
	to[12] = TCP_HEADER / 4 << 4;
	to[13] = (uint8_t)flags;
	wire_store_u16(to + 14, UINT16_MAX);	/* window */
	wire_store_u32(to + 16, 0);		/* checksum, urgent pointer */
}

/* Returns the octets of header and data. */
static size_t
put_tcp(const struct audit_record *r, const struct ends *ends, bool answer,
    size_t *offset, uint8_t *to)
{
	size_t left = LENGTH_PREFIX + ends->length - *offset;
	uint8_t *data = to + TCP_HEADER;
	size_t length;

	if (left > PAYLOAD_MAX)
		left = PAYLOAD_MAX;
	length = TCP_HEADER + left;
	put_tcp_header(r, ends, answer, *offset, to);
	if (*offset == 0) {
		wire_store_u16(data, ends->length);
		data += LENGTH_PREFIX;
		*offset = LENGTH_PREFIX;
		left -= LENGTH_PREFIX;
	}
	if (left > 0)
		memcpy(data, ends->message + *offset - LENGTH_PREFIX, left);
	*offset += left;
	put_checksum(to + 16, transport_sum(r, to, length));
	return length;
}

size_t
raw_packet_put(const struct audit_record *record, bool answer, size_t *offset,
    bool *last, uint8_t *to)
{
	const struct ends ends = ends_of(record, answer);
	const size_t ip = ip_octets(record);
	size_t length;

	if (record->stream) {
		length = put_tcp(record, &ends, answer, offset, to + ip);
		*last = *offset == LENGTH_PREFIX + (size_t)ends.length;
	} else {
		length = put_udp(record, &ends, offset, to + ip);
		*last = true;
	}
	if (record->family == AF_INET)
		put_ipv4(&ends, protocol_of(record), length, to);
	else
		put_ipv6(&ends, protocol_of(record), length, to);
	return ip + length;
}
