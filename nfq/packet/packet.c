/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/packet/packet.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "resolver/checksum.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

#define UDP_HEADER	8
#define TCP_HEADER	20		/* without options */
#define IPV4_HEADER	20		/* without options */
#define IPV6_HEADER	40		/* without extension headers */
#define FRESH_TTL	64		/* RFC 1700; what Linux sends */

/* RFC 8200 section 4.1: each kind once, destination options twice. */
#define IPV6_MAX_EXTENSIONS 4

/* RFC 791 section 3.1: more fragments, or an offset. */
#define IPV4_FRAGMENT_BITS 0x3fff

/* The first packet of a connection: SYN without FIN, RST and ACK. */
#define TCP_LOOKED_AT	0x17
#define TCP_SYN		0x02

enum ipv4_option {
	IPV4_OPTION_END = 0,
	IPV4_OPTION_NOP = 1,
	IPV4_OPTION_LOOSE_ROUTE = 131,
	IPV4_OPTION_STRICT_ROUTE = 137,
};

enum ipv6_option {
	IPV6_OPTION_PAD1 = 0,
	IPV6_OPTION_HOME_ADDRESS = 0xc9,	/* RFC 6275 section 6.3 */
};

static bool
ipv4_is_unicast(const uint8_t *address)
{
	uint32_t number;

	memcpy(&number, address, sizeof(number));
	number = ntohl(number);
	return !IN_MULTICAST(number) && number != INADDR_ANY &&
	    number != INADDR_BROADCAST;
}

static bool
ipv6_is_unicast(const uint8_t *address)
{
	static const uint8_t any[16];

	return address[0] != 0xff && memcmp(address, any, 16) != 0;
}

/*
 * The answer keeps the options unchanged, so a packet with a source route is
 * not answered: the route would have to be reversed (RFC 1122 section 3.2.1.8),
 * and its destination is only the next hop.
 */
static enum packet_form
ipv4_options(struct wire_reader options)
{
	uint8_t kind, length;

	while (wire_left(&options) > 0) {
		kind = wire_read_u8(&options);
		if (kind == IPV4_OPTION_END)
			break;
		if (kind == IPV4_OPTION_NOP)
			continue;
		if (kind == IPV4_OPTION_LOOSE_ROUTE ||
		    kind == IPV4_OPTION_STRICT_ROUTE)
			return PACKET_NOT_UDP;
		length = wire_read_u8(&options);
		if (length < 2)
			return PACKET_MALFORMED;
		wire_skip(&options, length - 2U);
	}
	return options.failed ? PACKET_MALFORMED : PACKET_OK;
}

/*
 * Whether a length field is wrong, where "here" octets are left of the packet.
 * Nearly all are as long as they say; packet_is_cut() looks at the others again.
 */
static inline bool
is_wrong(const struct packet *packet, size_t said, size_t here)
{
	return said != here && (packet->missing > UINT16_MAX ||
	    said != here + packet->missing);
}

static enum packet_form
ipv4_parse(struct packet *packet, struct wire_reader *r)
{
	const uint8_t *header = wire_read_octets(r, IPV4_HEADER), *options;
	size_t length;

	if (header == NULL)
		return PACKET_MALFORMED;
	packet->family = AF_INET;
	packet->source = header + 12;
	packet->destination = header + 16;
	length = (size_t)(header[0] & 0x0f) * 4;
	if (length < IPV4_HEADER ||
	    is_wrong(packet, wire_load_u16(header + 2),
	    IPV4_HEADER + wire_left(r)))
		return PACKET_MALFORMED;
	if ((wire_load_u16(header + 6) & IPV4_FRAGMENT_BITS) != 0)
		return PACKET_FRAGMENT;
	packet->protocol = header[9];
	if (header[9] != IPPROTO_UDP && header[9] != IPPROTO_TCP)
		return PACKET_NOT_UDP;
	if (!ipv4_is_unicast(packet->source) ||
	    !ipv4_is_unicast(packet->destination))
		return PACKET_ADDRESS;
	length -= IPV4_HEADER;
	if (length == 0)
		return PACKET_OK;
	options = wire_read_octets(r, length);
	if (options == NULL)
		return PACKET_MALFORMED;
	return ipv4_options(wire_reader_over(options, length));
}

/*
 * One hop-by-hop or destination options header, RFC 8200 section 4.2.  The
 * answer keeps it unchanged, so a packet with a home address is not answered:
 * that address would replace the source in the IP header.
 */
static enum packet_form
ipv6_options(struct wire_reader *r, uint8_t *next)
{
	struct wire_reader options;
	const uint8_t *octets;
	size_t length;
	uint8_t kind;

	*next = wire_read_u8(r);
	length = wire_read_u8(r) * 8U + 6;
	octets = wire_read_octets(r, length);
	if (octets == NULL)
		return PACKET_MALFORMED;
	options = wire_reader_over(octets, length);
	while (wire_left(&options) > 0) {
		kind = wire_read_u8(&options);
		if (kind == IPV6_OPTION_PAD1)
			continue;
		if (kind == IPV6_OPTION_HOME_ADDRESS)
			return PACKET_NOT_UDP;
		wire_skip(&options, wire_read_u8(&options));
	}
	return options.failed ? PACKET_MALFORMED : PACKET_OK;
}

/*
 * Walks the extension headers up to UDP or TCP.  A packet with a fragment
 * header is a fragment even if it is the only one (RFC 6946): the answer could
 * not keep that header.
 */
static enum packet_form
ipv6_extensions(struct packet *packet, struct wire_reader *r, uint8_t next)
{
	enum packet_form form;
	unsigned int i;

	for (i = 0; i <= IPV6_MAX_EXTENSIONS; i++) {
		switch (next) {
		case IPPROTO_UDP:
		case IPPROTO_TCP:
			packet->protocol = next;
			return PACKET_OK;
		case IPPROTO_FRAGMENT:
			return PACKET_FRAGMENT;
		case IPPROTO_HOPOPTS:
			if (i > 0)
				return PACKET_MALFORMED;
			break;
		case IPPROTO_DSTOPTS:
			break;
		default:
			return PACKET_NOT_UDP;
		}
		form = ipv6_options(r, &next);
		if (form != PACKET_OK)
			return form;
	}
	return PACKET_NOT_UDP;
}

static enum packet_form
ipv6_parse(struct packet *packet, struct wire_reader *r)
{
	const uint8_t *header = wire_read_octets(r, IPV6_HEADER);
	enum packet_form form;

	if (header == NULL)
		return PACKET_MALFORMED;
	packet->family = AF_INET6;
	packet->source = header + 8;
	packet->destination = header + 24;
	if (is_wrong(packet, wire_load_u16(header + 4), wire_left(r)))
		return PACKET_MALFORMED;
	form = ipv6_extensions(packet, r, header[6]);
	if (form != PACKET_OK)
		return form;
	if (!ipv6_is_unicast(packet->source) ||
	    !ipv6_is_unicast(packet->destination))
		return PACKET_ADDRESS;
	return PACKET_OK;
}

static enum packet_form
udp_parse(struct packet *packet, struct wire_reader *r)
{
	size_t left = wire_left(r);
	const uint8_t *header = wire_read_octets(r, UDP_HEADER);

	if (header == NULL)
		return PACKET_MALFORMED;
	packet->source_port = wire_load_u16(header);
	packet->destination_port = wire_load_u16(header + 2);
	if (packet->destination_port != DNS_PORT)
		return PACKET_NOT_DNS;
	/* nfdns does not interpret octets behind UDP's end (RFC 9868). */
	if (is_wrong(packet, wire_load_u16(header + 4), left))
		return PACKET_MALFORMED;
	/* RFC 768: a source port of 0 says that no answer is wanted. */
	if (packet->source_port == 0)
		return PACKET_ADDRESS;
	packet->payload = header + UDP_HEADER;
	packet->payload_length = left - UDP_HEADER;
	return PACKET_OK;
}

/* RFC 9293 section 3.1.  Looks only at the header. */
static enum packet_form
tcp_parse(struct packet *packet, struct wire_reader *r)
{
	size_t left = wire_left(r), length;
	const uint8_t *header = wire_read_octets(r, TCP_HEADER);

	if (header == NULL)
		return PACKET_MALFORMED;
	packet->source_port = wire_load_u16(header);
	packet->destination_port = wire_load_u16(header + 2);
	length = (size_t)(header[12] >> 4) * 4;
	if (length < TCP_HEADER || length > left)
		return PACKET_MALFORMED;
	if (packet->destination_port != DNS_PORT)
		return PACKET_NOT_DNS;
	return (header[13] & TCP_LOOKED_AT) == TCP_SYN ? PACKET_STREAM :
	    PACKET_NOT_UDP;
}

enum packet_form
packet_parse(struct packet *packet, const uint8_t *octets, size_t length,
    size_t whole_length)
{
	struct wire_reader r = wire_reader_over(octets, length);
	enum packet_form form = PACKET_MALFORMED;

	packet->family = 0;
	packet->octets = octets;
	packet->missing = whole_length - length;
	if (length == 0)
		return PACKET_MALFORMED;
	if (octets[0] >> 4 == 4)
		form = ipv4_parse(packet, &r);
	else if (octets[0] >> 4 == 6)
		form = ipv6_parse(packet, &r);
	if (form != PACKET_OK)
		return form;
	packet->ip_header = wire_offset(&r);
	if (packet->ip_header > PACKET_HEADERS_MAX - UDP_HEADER)
		return PACKET_NOT_UDP;
	return packet->protocol == IPPROTO_TCP ? tcp_parse(packet, &r) :
	    udp_parse(packet, &r);
}

bool
packet_is_cut(const struct packet *packet, size_t whole_length)
{
	const uint8_t *octets = packet->octets;
	const size_t udp = wire_load_u16(octets + packet->ip_header + 4);
	const size_t ip = packet->family == AF_INET ?
	    wire_load_u16(octets + 2) :
	    (size_t)IPV6_HEADER + wire_load_u16(octets + 4);

	return ip == whole_length && packet->ip_header + udp == whole_length;
}

size_t
packet_reply_offset(const struct packet *packet)
{
	return packet->ip_header + UDP_HEADER;
}

/* Copies the question's header: the fixed part, then options. */
static inline void
copy_header(uint8_t *reply, const struct packet *packet, size_t fixed)
{
	memcpy(reply, packet->octets, fixed);
	if (packet->ip_header > fixed)
		memcpy(reply + fixed, packet->octets + fixed,
		    packet->ip_header - fixed);
}

/*
 * Writes the question's IPv4 header with the addresses swapped.  Returns the
 * addresses' part of the pseudo header's sum, which the swap does not change.
 */
static uint64_t
ipv4_reply(const struct packet *packet, uint8_t *reply, size_t length)
{
	uint64_t addresses;
	uint16_t sum;

	copy_header(reply, packet, IPV4_HEADER);
	wire_store_u16(reply + 2, (uint16_t)length);
	reply[8] = FRESH_TTL;
	memcpy(reply + 12, packet->destination, 4);
	memcpy(reply + 16, packet->source, 4);
	memset(reply + 10, 0, sizeof(sum));
	sum = checksum_finish(checksum_add(0, reply, packet->ip_header));
	memcpy(reply + 10, &sum, sizeof(sum));
	memcpy(&addresses, packet->source, sizeof(addresses));
	return addresses;
}

static uint64_t
ipv6_reply(const struct packet *packet, uint8_t *reply, size_t length)
{
	copy_header(reply, packet, IPV6_HEADER);
	wire_store_u16(reply + 4, (uint16_t)(length - IPV6_HEADER));
	reply[7] = FRESH_TTL;
	memcpy(reply + 8, packet->destination, 16);
	memcpy(reply + 24, packet->source, 16);
	return checksum_add(0, packet->source, 32);
}

size_t
packet_reply(const struct packet *packet, uint8_t *reply,
    size_t payload_length)
{
	uint8_t *udp = reply + packet->ip_header;
	size_t udp_length = UDP_HEADER + payload_length;
	size_t length = packet->ip_header + udp_length;
	uint64_t pseudo;
	uint16_t sum;

	assert(length <= UINT16_MAX);
	if (packet->family == AF_INET)
		pseudo = ipv4_reply(packet, reply, length);
	else
		pseudo = ipv6_reply(packet, reply, length);

	wire_store_u16(udp, packet->destination_port);
	wire_store_u16(udp + 2, packet->source_port);
	wire_store_u16(udp + 4, (uint16_t)udp_length);
	memset(udp + 6, 0, sizeof(sum));
	pseudo = checksum_add_u16(pseudo, IPPROTO_UDP);
	pseudo = checksum_add_u16(pseudo, (uint16_t)udp_length);
	sum = checksum_finish(checksum_add(pseudo, udp, udp_length));
	if (sum == 0)
		sum = 0xffff;
	memcpy(udp + 6, &sum, sizeof(sum));
	return length;
}
