/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/raw_packet.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/wire.h"

#define IPV4_HEADER	20U
#define UDP_HEADER	8U
#define TCP_HEADER	20U
#define TCP_SYN		0x02U

/* RFC 791 section 3.1; the reader ends where the packet says. */
static uint8_t
read_ipv4(struct raw_packet *packet, struct wire_reader *r)
{
	const size_t header = (size_t)(r->pos[0] & 15) * 4;
	const uint8_t *ip = wire_read_octets(r, IPV4_HEADER);
	size_t total;

	if (ip == NULL)
		return 0;
	total = wire_load_u16(ip + 2);
	if (header < IPV4_HEADER || total < header ||
	    total > wire_left(r) + IPV4_HEADER)
		return 0;
	r->end = ip + total;
	wire_skip(r, header - IPV4_HEADER);
	packet->family = AF_INET;
	memcpy(packet->source, ip + 12, 4);
	memcpy(packet->destination, ip + 16, 4);
	return ip[9];
}

/* RFC 8200 section 3. */
static uint8_t
read_ipv6(struct raw_packet *packet, struct wire_reader *r)
{
	const uint8_t *ip = wire_read_octets(r, 40);
	size_t length;

	if (ip == NULL)
		return 0;
	length = wire_load_u16(ip + 4);
	if (length > wire_left(r))
		return 0;
	r->end = r->pos + length;
	packet->family = AF_INET6;
	memcpy(packet->source, ip + 8, 16);
	memcpy(packet->destination, ip + 24, 16);
	return ip[6];
}

static void
read_udp(struct raw_packet *packet, struct wire_reader *r)
{
	const uint16_t length = wire_read_u16(r);

	wire_skip(r, 2);
	if (length < UDP_HEADER || length - UDP_HEADER > wire_left(r))
		r->failed = true;
	else
		r->end = r->pos + length - UDP_HEADER;
	packet->first = true;
}

static void
read_tcp(struct raw_packet *packet, struct wire_reader *r)
{
	size_t header;
	uint8_t flags;

	wire_skip(r, 8);
	header = (size_t)(wire_read_u8(r) >> 4) * 4;
	flags = wire_read_u8(r);
	wire_skip(r, 6);
	if (header < TCP_HEADER)
		r->failed = true;
	else
		wire_skip(r, header - TCP_HEADER);
	packet->stream = true;
	packet->first = (flags & TCP_SYN) != 0;
}

bool
raw_packet_read(struct raw_packet *packet, const uint8_t *octets,
    size_t length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	uint8_t protocol = 0;

	*packet = (struct raw_packet){ .family = 0 };
	if (length > 0 && octets[0] >> 4 == 4)
		protocol = read_ipv4(packet, &r);
	else if (length > 0 && octets[0] >> 4 == 6)
		protocol = read_ipv6(packet, &r);
	packet->source_port = wire_read_u16(&r);
	packet->destination_port = wire_read_u16(&r);
	if (protocol == IPPROTO_UDP)
		read_udp(packet, &r);
	else if (protocol == IPPROTO_TCP)
		read_tcp(packet, &r);
	else
		return false;
	packet->payload = r.pos;
	packet->length = wire_left(&r);
	return !r.failed;
}
