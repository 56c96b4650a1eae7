/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet_parse() and packet_reply() on packets put together here. */
#include "resolver/checksum.h"
#include "nfq/packet/packet.h"
#include "tests/check.h"
#include "tests/packets.h"

/* A packet under construction. */
struct made {
	uint8_t octets[2048];
	size_t length;
};

static void
put(struct made *m, const void *octets, size_t n)
{
	memcpy(m->octets + m->length, octets, n);
	m->length += n;
}

static void
put_udp(struct made *m, uint16_t source, uint16_t destination, size_t payload)
{
	uint8_t header[8] = { 0 };
	size_t i;

	put_word(header, source);
	put_word(header + 2, destination);
	put_word(header + 4, sizeof(header) + payload);
	put(m, header, sizeof(header));
	for (i = 0; i < payload; i++)
		m->octets[m->length++] = (uint8_t)(i * 7 + 3);
}

/* options: whole 32-bit words. */
static struct made
ipv4(const void *options, size_t option_length, size_t payload)
{
	uint8_t header[20] = { 0x45, 0x28, 0, 0, 0x12, 0x34, 0x40, 0, 3, 17, 0,
		0, 192, 0, 2, 1, 198, 51, 100, 53 };
	struct made m = { .length = 0 };

	header[0] = (uint8_t)(0x40 | (5 + option_length / 4));
	put(&m, header, sizeof(header));
	put(&m, options, option_length);
	put_udp(&m, 40001, 53, payload);
	put_word(m.octets + 2, m.length);
	return m;
}

/* extensions: next is the kind of the first, each names the one after it. */
static struct made
ipv6(uint8_t next, const void *extensions, size_t extension_length,
    size_t payload)
{
	uint8_t header[40] = { 0x6a, 0xbc, 0xde, 0xf1, 0, 0, 0, 2,
		0x20, 0x01, 0x0d, 0xb8, [23] = 1,
		[24] = 0x20, 0x01, 0x0d, 0xb8, [39] = 0x53 };
	struct made m = { .length = 0 };

	header[6] = next;
	put(&m, header, sizeof(header));
	put(&m, extensions, extension_length);
	put_udp(&m, 40001, 53, payload);
	put_word(m.octets + 4, m.length - 40);
	return m;
}

/*
 * The copy is exactly as long as the packet, so that a sanitizer sees the
 * first octet read behind it.
 */
static enum packet_form
form_of_octets(const uint8_t *octets, size_t length)
{
	uint8_t *copy = malloc(length + 1);
	struct packet packet;
	enum packet_form form;

	memcpy(copy + 1, octets, length);
	form = packet_parse(&packet, copy + 1, length, length);
	free(copy);
	return form;
}

static enum packet_form
form_of(const struct made *m)
{
	return form_of_octets(m->octets, m->length);
}

TEST(test_checksum)
{
	uint8_t octets[300];
	uint8_t got[2];
	uint16_t sum;
	size_t i, length;

	for (i = 0; i < sizeof(octets); i++)
		octets[i] = (uint8_t)(i * i + 251);
	for (length = 0; length < sizeof(octets); length++) {
		sum = checksum_finish(checksum_add(0, octets, length));
		memcpy(got, &sum, sizeof(got));
		CHECK((uint32_t)(got[0] << 8 | got[1]) ==
		    (~slow_sum(0, octets, length) & 0xffff));
	}
	memset(octets, 0xff, sizeof(octets));
	CHECK(checksum_finish(checksum_add(0, octets, 256)) == 0);
	CHECK(checksum_finish(0) == 0xffff);
	/* RFC 1071 section 3's example: the sum is ddf2. */
	memcpy(octets, "\x00\x01\xf2\x03\xf4\xf5\xf6\xf7", 8);
	sum = checksum_finish(checksum_add_u16(checksum_add(0, octets + 2, 6),
	    1));
	memcpy(got, &sum, sizeof(got));
	CHECK(got[0] == 0x22 && got[1] == 0x0d);
}

TEST(test_parse_ipv4)
{
	struct made m = ipv4("", 0, 33);
	struct packet p;

	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(p.family == AF_INET);
	CHECK(p.ip_header == 20);
	CHECK(p.source == m.octets + 12 && p.destination == m.octets + 16);
	CHECK(p.source_port == 40001 && p.destination_port == 53);
	CHECK(p.payload == m.octets + 28 && p.payload_length == 33);
	m = ipv4("", 0, 0);
	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(p.payload_length == 0);
}

TEST(test_parse_ipv4_options)
{
	struct made m;

	/* Router alert; record route; no-operation; end with rubbish behind. */
	m = ipv4("\x94\x04\0\0", 4, 5);
	CHECK(form_of(&m) == PACKET_OK);
	m = ipv4("\x07\x07\x04\0\0\0\0\0", 8, 5);
	CHECK(form_of(&m) == PACKET_OK);
	m = ipv4("\x01\x01\x01\x01", 4, 5);
	CHECK(form_of(&m) == PACKET_OK);
	m = ipv4("\x00\x83\x83\x83", 4, 5);
	CHECK(form_of(&m) == PACKET_OK);
	/* Loose and strict source route, also behind another option. */
	m = ipv4("\x83\x07\x04\x01\x02\x03\x04\0", 8, 5);
	CHECK(form_of(&m) == PACKET_NOT_UDP);
	m = ipv4("\x01\x89\x07\x04\x01\x02\x03\x04", 8, 5);
	CHECK(form_of(&m) == PACKET_NOT_UDP);
	/* Too short to be an option, longer than the header, no length. */
	m = ipv4("\x94\x01\0\0", 4, 5);
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = ipv4("\x94\x05\0\0", 4, 5);
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = ipv4("\x01\x01\x01\x94", 4, 5);
	CHECK(form_of(&m) == PACKET_MALFORMED);
}

TEST(test_parse_ipv4_refused)
{
	const struct made good = ipv4("", 0, 20);
	struct made m;
	size_t i;

	for (i = 0; i < good.length; i++)
		CHECK(form_of_octets(good.octets, i) == PACKET_MALFORMED);
	m = good, m.length++;			/* an octet behind the end */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[0] = 0x44;		/* header below 20 octets */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[0] = 0x55;		/* version 5 */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[0] = 0x4f;		/* header longer than the packet */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[6] = 0x20;		/* more fragments */
	CHECK(form_of(&m) == PACKET_FRAGMENT);
	m = good, m.octets[7] = 1;		/* a later fragment */
	CHECK(form_of(&m) == PACKET_FRAGMENT);
	m = good, m.octets[9] = 1;
	CHECK(form_of(&m) == PACKET_NOT_UDP);
	m = good, m.octets[9] = 136;		/* UDP-Lite */
	CHECK(form_of(&m) == PACKET_NOT_UDP);
	m = good, m.octets[23] = 54;
	CHECK(form_of(&m) == PACKET_NOT_DNS);
	m = good, m.octets[22] = 1;
	CHECK(form_of(&m) == PACKET_NOT_DNS);
	m = good, m.octets[25]--;		/* UDP length one short */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[25]++;
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, m.octets[25] = 0;
	CHECK(form_of(&m) == PACKET_MALFORMED);
}

TEST(test_addresses)
{
	static const uint8_t bad4[][4] = { { 0 }, { 224, 0, 0, 251 },
		{ 239, 1, 2, 3 }, { 255, 255, 255, 255 } };
	static const uint8_t good4[][4] = { { 127, 0, 0, 53 }, { 0, 0, 0, 1 },
		{ 169, 254, 1, 1 }, { 223, 255, 255, 255 }, { 240, 0, 0, 1 },
		{ 255, 255, 255, 254 } };
	static const uint8_t bad6[][16] = { { 0 }, { 0xff, 0x02, [15] = 0xfb } };
	static const uint8_t good6[][16] = { { [15] = 1 },
		{ 0xfe, 0x80, [15] = 1 }, { 0xfe, 0xff, [15] = 1 } };
	struct made m;
	size_t i, at;

	for (at = 12; at <= 16; at += 4) {
		m = ipv4("", 0, 20);
		for (i = 0; i < sizeof(bad4) / sizeof(bad4[0]); i++) {
			memcpy(m.octets + at, bad4[i], 4);
			CHECK(form_of(&m) == PACKET_ADDRESS);
		}
		for (i = 0; i < sizeof(good4) / sizeof(good4[0]); i++) {
			memcpy(m.octets + at, good4[i], 4);
			CHECK(form_of(&m) == PACKET_OK);
		}
	}
	for (at = 8; at <= 24; at += 16) {
		m = ipv6(17, "", 0, 20);
		for (i = 0; i < sizeof(bad6) / sizeof(bad6[0]); i++) {
			memcpy(m.octets + at, bad6[i], 16);
			CHECK(form_of(&m) == PACKET_ADDRESS);
		}
		for (i = 0; i < sizeof(good6) / sizeof(good6[0]); i++) {
			memcpy(m.octets + at, good6[i], 16);
			CHECK(form_of(&m) == PACKET_OK);
		}
	}
	m = ipv4("", 0, 20);
	memset(m.octets + 20, 0, 2);		/* source port 0 */
	CHECK(form_of(&m) == PACKET_ADDRESS);
}

TEST(test_parse_ipv6)
{
	struct made m = ipv6(17, "", 0, 12);
	struct packet p;

	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(p.family == AF_INET6);
	CHECK(p.ip_header == 40);
	CHECK(p.source == m.octets + 8 && p.destination == m.octets + 24);
	CHECK(p.source_port == 40001 && p.payload_length == 12);
	/* Hop-by-hop, then destination options of 16 octets. */
	m = ipv6(0, "\x3c\0\x05\x02\0\0\x01\0" "\x11\x01\x01\x0c\0\0\0\0"
	    "\0\0\0\0\0\0\0\0", 24, 12);
	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(p.ip_header == 64);
	CHECK(p.payload_length == 12);
	/* All of Pad1. */
	m = ipv6(60, "\x11\0\0\0\0\0\0\0", 8, 12);
	CHECK(form_of(&m) == PACKET_OK);
}

/* The first packet of a connection, and what only looks like one. */
TEST(test_parse_tcp)
{
	uint8_t v4[40] = { 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0,
	    192, 0, 2, 1, 192, 0, 2, 53,
	    0x80, 0, 0, 53, 1, 2, 3, 4, 0, 0, 0, 0, 0x50, 0x02 };
	uint8_t v6[60] = { 0x60, 0, 0, 0, 0, 20, 6, 64 };
	const struct { uint8_t flags; enum packet_form form; } cases[] = {
		{ 0x02, PACKET_STREAM }, { 0xc2, PACKET_STREAM },
		{ 0x12, PACKET_NOT_UDP }, { 0x10, PACKET_NOT_UDP },
		{ 0x04, PACKET_NOT_UDP }, { 0x03, PACKET_NOT_UDP },
		{ 0x06, PACKET_NOT_UDP }, { 0x00, PACKET_NOT_UDP },
	};
	struct packet p;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		v4[33] = cases[i].flags;
		CHECK(packet_parse(&p, v4, sizeof(v4), sizeof(v4)) == cases[i].form);
	}
	v4[33] = 0x02;
	for (size_t i = 0; i < sizeof(v4); i++)
		CHECK(form_of_octets(v4, i) == PACKET_MALFORMED);
	v4[32] = 0x40;				/* header below 20 octets */
	CHECK(packet_parse(&p, v4, sizeof(v4), sizeof(v4)) == PACKET_MALFORMED);
	v4[32] = 0x60;				/* longer than the packet */
	CHECK(packet_parse(&p, v4, sizeof(v4), sizeof(v4)) == PACKET_MALFORMED);
	v4[32] = 0x50;
	v4[23] = 54;
	CHECK(packet_parse(&p, v4, sizeof(v4), sizeof(v4)) == PACKET_NOT_DNS);

	v6[8] = v6[24] = 0x20;
	v6[23] = 1, v6[39] = 53;
	memcpy(v6 + 40, v4 + 20, 20);
	v6[43] = 53;
	CHECK(packet_parse(&p, v6, sizeof(v6), sizeof(v6)) == PACKET_STREAM);
	CHECK(p.source_port == 0x8000 && p.destination_port == 53 &&
	    p.family == AF_INET6);
}

TEST(test_parse_ipv6_refused)
{
	static const uint8_t plain[] = "\x11\0\x01\x04\0\0\0\0";
	static const uint8_t kinds[] = { 43, 50, 51, 58, 59, 135, 139, 255 };
	const struct made good = ipv6(60, plain, 8, 20);
	struct made m;
	uint8_t chain[2048];
	size_t i;

	for (i = 0; i < good.length; i++)
		CHECK(form_of_octets(good.octets, i) == PACKET_MALFORMED);
	m = good, m.length++;
	CHECK(form_of(&m) == PACKET_MALFORMED);
	m = good, put_word(m.octets + 4, 0);	/* jumbogram */
	CHECK(form_of(&m) == PACKET_MALFORMED);
	for (i = 0; i < sizeof(kinds); i++) {
		m = ipv6(kinds[i], plain, 8, 20);
		CHECK(form_of(&m) == PACKET_NOT_UDP);
	}
	m = ipv6(44, "\x11\0\0\0\0\0\0\x01", 8, 20);	/* atomic fragment */
	CHECK(form_of(&m) == PACKET_FRAGMENT);
	m = ipv6(60, "\0\0\x01\x04\0\0\0\0" "\x11\0\x01\x04\0\0\0\0", 16, 20);
	CHECK(form_of(&m) == PACKET_MALFORMED);	/* hop-by-hop not first */
	m = ipv6(60, "\x11\0\x01\x05\0\0\0\0", 8, 20);
	CHECK(form_of(&m) == PACKET_MALFORMED);	/* option overruns its header */
	m = ipv6(60, "\x11\0\x01\x03\0\0\0\x05", 8, 20);
	CHECK(form_of(&m) == PACKET_MALFORMED);	/* option without length */
	m = ipv6(60, "\x11\x02\x01\x02\0\0\xc9\x10\0\0\0\0\0\0\0\0"
	    "\0\0\0\0\0\0\0\0", 24, 20);
	CHECK(form_of(&m) == PACKET_NOT_UDP);	/* home address */

	/* A long chain, and one header that no reply has room for. */
	for (i = 0; i < 20 * 8; i += 8)
		memcpy(chain + i, "\x3c\0\x01\x04\0\0\0\0", 8);
	chain[19 * 8] = 17;
	m = ipv6(60, chain, 20 * 8, 20);
	CHECK(form_of(&m) == PACKET_NOT_UDP);
	memset(chain, 0, sizeof(chain));
	memcpy(chain, "\x11\x3c", 2);
	m = ipv6(60, chain, 61 * 8, 20);
	CHECK(form_of(&m) == PACKET_NOT_UDP);
}

/* The sum over pseudo header and UDP, with a right checksum in it. */
static uint32_t
udp_sum(const uint8_t *reply, size_t ip_header, size_t length)
{
	size_t address = reply[0] >> 4 == 4 ? 12 : 8;
	size_t addresses = reply[0] >> 4 == 4 ? 8 : 32;
	uint32_t sum = slow_sum(17, reply + address, addresses);

	sum += (uint32_t)(length - ip_header);
	return slow_sum(sum, reply + ip_header, length - ip_header);
}

static void
check_reply(const struct made *m, size_t payload)
{
	uint8_t reply[4096];
	struct packet p, back;
	size_t length, i, at;

	CHECK(packet_parse(&p, m->octets, m->length, m->length) == PACKET_OK);
	at = packet_reply_offset(&p);
	CHECK(at == p.ip_header + 8);
	for (i = 0; i < payload; i++)
		reply[at + i] = (uint8_t)(i * 13 + 5);
	length = packet_reply(&p, reply, payload);
	CHECK(length == at + payload);
	for (i = 0; i < payload; i++)
		CHECK(reply[at + i] == (uint8_t)(i * 13 + 5));

	/* Its own port is not 53, so it parses as that and no further. */
	CHECK(packet_parse(&back, reply, length, length) == PACKET_NOT_DNS);
	CHECK(back.family == p.family);
	CHECK(back.ip_header == p.ip_header);
	CHECK(back.source_port == 53 && back.destination_port == p.source_port);
	at = p.family == AF_INET ? 4 : 16;
	CHECK(memcmp(back.source, p.destination, at) == 0);
	CHECK(memcmp(back.destination, p.source, at) == 0);
	CHECK(udp_sum(reply, p.ip_header, length) == 0xffff);
	CHECK((reply[p.ip_header + 6] | reply[p.ip_header + 7]) != 0);
}

TEST(test_reply_ipv4)
{
	static const size_t payloads[] = { 0, 1, 12, 33, 512, 1231, 1232 };
	struct made m = ipv4("\x94\x04\0\0\x01\x01\x01\0", 8, 30);
	uint8_t reply[4096] = { 0 };
	struct packet p;
	size_t i;

	for (i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
		check_reply(&m, payloads[i]);
	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(packet_reply(&p, reply, 100) == 136);
	CHECK(memcmp(reply, m.octets, 2) == 0);		/* length, TOS */
	CHECK(reply[2] == 0 && reply[3] == 136);
	CHECK(memcmp(reply + 4, m.octets + 4, 4) == 0);	/* id, DF */
	CHECK(reply[8] == 64);
	CHECK(memcmp(reply + 20, m.octets + 20, 8) == 0);	/* options */
	CHECK(slow_sum(0, reply, 28) == 0xffff);
}

TEST(test_reply_ipv6)
{
	static const uint8_t extensions[] = "\x3c\0\x05\x02\0\0\x01\0"
	    "\x11\0\x01\x04\0\0\0\0";
	struct made m = ipv6(0, extensions, 16, 30);
	uint8_t reply[4096] = { 0 };
	struct packet p;

	check_reply(&m, 1);
	check_reply(&m, 1232);
	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	CHECK(packet_reply(&p, reply, 100) == 164);
	CHECK(memcmp(reply, m.octets, 4) == 0);		/* class, flow label */
	CHECK(reply[4] == 0 && reply[5] == 124);
	CHECK(reply[6] == 0 && reply[7] == 64);
	CHECK(memcmp(reply + 40, extensions, 16) == 0);
}

/* RFC 8200 section 8.1: a checksum that comes out as 0 is sent as ffff. */
TEST(test_reply_zero_checksum)
{
	struct made m = ipv6(17, "", 0, 30);
	uint8_t reply[256] = { 0 };
	struct packet p;

	CHECK(packet_parse(&p, m.octets, m.length, m.length) == PACKET_OK);
	packet_reply(&p, reply, 2);
	/* Putting the checksum itself into the payload makes the sum ffff. */
	memcpy(reply + 48, reply + 46, 2);
	packet_reply(&p, reply, 2);
	CHECK(reply[46] == 0xff && reply[47] == 0xff);
}
