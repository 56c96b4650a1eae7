/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the interception share: tables, packets around a message, and
 * what must be true of every reply, found out in another way than packet.c's.
 */
#ifndef NFDNS_TESTS_PACKETS_H
#define NFDNS_TESTS_PACKETS_H

#include <netinet/in.h>

#include "nfq/packet/intercept.h"
#include "tests/image.h"

static inline uint16_t
word_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
put_word(uint8_t *p, size_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

/* The sum of RFC 1071, 16 bits at a time; 0xffff over what has a right one. */
static inline uint32_t
slow_sum(uint32_t sum, const uint8_t *octets, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		sum += (uint32_t)octets[i] << (i % 2 == 0 ? 8 : 0);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static const struct answer_settings sample_settings = {
	.negative_ttl = 5, .udp_size = 1232, .suppress_https = 1, .tcp = 1,
};

/* What answers from that table are made from. */
static inline struct answer_source
sample_source(const struct table *table)
{
	return answer_source(table, &sample_settings);
}

static inline void
add_alias(struct builder *b, const char *owner, const char *target)
{
	const struct dns_name name = name_of(owner), to = name_of(target);

	MUST(builder_add(b, &name, NAME_OWNED, TYPE_CNAME, 30, to.octets,
	    to.length, 1) == BUILDER_ADDED);
}

/* Names of every kind; with "everything" also a wildcard over all others. */
static inline struct table *
sample_table(bool everything)
{
	struct mesh mesh = {
		.ttl = 30,
		.search_count = 1,
		.zone_count = 1,
	};
	struct builder *b;
	struct table *t;
	char address[32];
	int i;

	mesh.domain = name_of("cluster.local");
	mesh.search[0] = name_of("default.svc.cluster.local");
	mesh.zones[0].name = name_of("mesh.test");
	mesh.zones[0].unknown = ZONE_NXDOMAIN;
	b = builder_new(&mesh);
	MUST(b != NULL);
	for (i = 1; i <= 3; i++) {
		(void)snprintf(address, sizeof(address), "10.0.0.%d", i);
		MUST(add_address(b, "reviews.default.svc.cluster.local",
		    NAME_OWNED, address) == BUILDER_ADDED);
	}
	MUST(add_address(b, "www.example.com", 0, "10.1.0.1") == 0);
	MUST(add_address(b, "www.example.com", 0, "2001:db8::1:1") == 0);
	MUST(add_address(b, "deep.in.mesh.test", NAME_OWNED, "10.2.0.1") == 0);
	for (i = 1; i <= 200; i++) {
		(void)snprintf(address, sizeof(address), "10.3.0.%d", i);
		MUST(add_address(b, "many.mesh.test", NAME_OWNED, address) ==
		    0);
	}
	MUST(add_address(b, "*.wild.test", NAME_OWNED, "10.4.0.1") == 0);
	add_alias(b, "out.mesh.test", "elsewhere.example");
	add_alias(b, "in.mesh.test", "reviews.default.svc.cluster.local");
	if (everything)
		MUST(add_address(b, "*", 0, "10.5.0.1") == 0);
	t = table_of(b);
	builder_free(b);
	return t;
}

/* A plain UDP packet to port 53, IPv4 or IPv6; out has room.  Its length. */
static inline size_t
packet_around(uint8_t *out, int family, const uint8_t *payload, size_t length)
{
	static const uint8_t four[20] = { 0x45, 0x10, 0, 0, 0x12, 0x34, 0x40, 0,
		64, IPPROTO_UDP, 0, 0, 192, 0, 2, 1, 192, 0, 2, 53 };
	static const uint8_t six[40] = { 0x60, 0x01, 0x23, 0x45, 0, 0,
		IPPROTO_UDP, 64, 0x20, 0x01, 0x0d, 0xb8, [23] = 1,
		[24] = 0x20, 0x01, 0x0d, 0xb8, [39] = 0x53 };
	size_t header = family == AF_INET ? sizeof(four) : sizeof(six);
	uint8_t *udp = out + header;

	memcpy(out, family == AF_INET ? four : six, header);
	put_word(udp, 40000);
	put_word(udp + 2, 53);
	put_word(udp + 4, 8 + length);
	put_word(udp + 6, 0xbad1);
	if (length > 0)
		memcpy(udp + 8, payload, length);
	if (family == AF_INET)
		put_word(out + 2, header + 8 + length);
	else
		put_word(out + 4, 8 + length);
	return header + 8 + length;
}

#define FAULT_UNLESS(condition) do {					\
	if (!(condition))						\
		return #condition;					\
} while (0)

/* The IP header of a reply, and all checksums.  NULL, or what is not true. */
static inline const char *
header_fault(const struct interception *in, const uint8_t *asked,
    const uint8_t *reply)
{
	bool four = asked[0] >> 4 == 4;
	size_t at = four ? 12 : 8, n = four ? 4 : 16;
	size_t udp = in->reply_length - in->answer_length - 8;
	uint32_t sum;

	if (four) {
		FAULT_UNLESS(udp == (asked[0] & 15U) * 4);
		FAULT_UNLESS(word_at(reply + 2) == in->reply_length);
		FAULT_UNLESS(memcmp(reply, asked, 2) == 0);
		FAULT_UNLESS(memcmp(reply + 4, asked + 4, 4) == 0);
		FAULT_UNLESS(memcmp(reply + 20, asked + 20, udp - 20) == 0);
		FAULT_UNLESS(slow_sum(0, reply, udp) == 0xffff);
	} else {
		FAULT_UNLESS(udp >= 40 && udp % 8 == 0);
		FAULT_UNLESS(word_at(reply + 4) == in->reply_length - 40);
		FAULT_UNLESS(memcmp(reply, asked, 4) == 0);
		FAULT_UNLESS(reply[6] == asked[6]);
		FAULT_UNLESS(memcmp(reply + 40, asked + 40, udp - 40) == 0);
	}
	FAULT_UNLESS(memcmp(reply + at, asked + at + n, n) == 0);
	FAULT_UNLESS(memcmp(reply + at + n, asked + at, n) == 0);
	FAULT_UNLESS(word_at(reply + udp) == 53);
	FAULT_UNLESS(word_at(asked + udp + 2) == 53);
	FAULT_UNLESS(word_at(reply + udp + 2) == word_at(asked + udp));
	FAULT_UNLESS(word_at(reply + udp + 4) == in->reply_length - udp);
	FAULT_UNLESS(word_at(reply + udp + 6) != 0);
	sum = slow_sum(17, reply + at, 2 * n);
	sum += (uint32_t)(in->reply_length - udp);
	FAULT_UNLESS(slow_sum(sum, reply + udp, in->reply_length - udp) ==
	    0xffff);
	return NULL;
}

/*
 * Everything that must be true of an interception of the packet "asked",
 * whatever it was.  NULL, or what is not true.
 */
static inline const char *
interception_fault(const struct interception *in, const uint8_t *asked,
    const uint8_t *reply)
{
	const uint8_t *question, *answer;
	bool silent = in->decision.verdict == VERDICT_PASS ||
	    in->decision.verdict == VERDICT_DROP ||
	    in->decision.verdict == VERDICT_FORWARD;

	FAULT_UNLESS(in->decision.verdict < VERDICTS);
	FAULT_UNLESS(in->decision.reason < REASONS);
	FAULT_UNLESS(silent == (in->reply_length == 0));
	FAULT_UNLESS(silent == (in->answer_length == 0));
	if (silent)
		return NULL;
	FAULT_UNLESS(in->form == PACKET_OK);
	FAULT_UNLESS(in->packet.payload_length >= 12);
	FAULT_UNLESS(in->reply_length <= INTERCEPT_REPLY_MAX);
	FAULT_UNLESS(in->answer_length >= 12);
	FAULT_UNLESS(in->answer + in->answer_length == reply +
	    in->reply_length);
	question = in->packet.payload;
	answer = in->answer;
	FAULT_UNLESS(word_at(answer) == word_at(question));
	FAULT_UNLESS((question[2] & 0x80) == 0 && (answer[2] & 0x80) != 0);
	FAULT_UNLESS((question[2] & 0x78) == (answer[2] & 0x78));
	FAULT_UNLESS((question[2] & 0x78) == 0 || in->judged);
	FAULT_UNLESS(in->answer_length <= 1232);
	FAULT_UNLESS(in->answer_length <= 512 || in->question.edns.present);
	if (in->question.wire_length > 0)
		FAULT_UNLESS(memcmp(answer + 12, in->question.wire,
		    in->question.wire_length) == 0);
	return header_fault(in, asked, reply);
}

#endif
