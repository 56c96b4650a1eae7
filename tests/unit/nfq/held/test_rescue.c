/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams that carry packets: which are ones, and which are not. */
#include "nfq/held/rescue.h"

#include <string.h>
#include <sys/socket.h>

#include "nfq/queue/queue_packet.h"
#include "tests/check.h"

static const uint8_t packet4[] = {
	0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 53, 192, 0, 2, 1,
	0, 53, 0x80, 0, 0, 12, 0, 0, 'd', 'n', 's', '!',
};
static const uint8_t packet6[] = {
	0x60, 0, 0, 0, 0, 12, 17, 64,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 53,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0, 53, 0x80, 0, 0, 12, 0, 0, 'd', 'n', 's', '!',
};

static uint8_t payload[QUEUE_COPY + 64];

/* Behind the prefix of such datagrams; the length of it all. */
static size_t
carry(const uint8_t *packet, size_t length)
{
	memcpy(payload, "\xff\xff\xff\xff" "nfds", 8);
	memcpy(payload + 8, packet, length);
	return 8 + length;
}

static void
a_packet_of_the_same_family_is_carried(void)
{
	struct rescue_packet p;

	CHECK(rescue_carried(&p, AF_INET, payload,
	    carry(packet4, sizeof(packet4))));
	CHECK(p.octets == payload + 8 && p.length == sizeof(packet4));
	CHECK(!rescue_carried(&p, AF_INET6, payload, 8 + sizeof(packet4)));
	CHECK(rescue_carried(&p, AF_INET6, payload,
	    carry(packet6, sizeof(packet6))));
	CHECK(p.octets == payload + 8 && p.length == sizeof(packet6));
	CHECK(!rescue_carried(&p, AF_INET, payload, 8 + sizeof(packet6)));
}

static void
each_part_must_be_right(void)
{
	static const size_t parts4[] = { 0, 2, 3, 9 };
	static const size_t parts6[] = { 0, 4, 5, 6 };
	struct rescue_packet p;
	size_t length;

	for (size_t i = 0; i < 8; i++) {
		length = carry(packet4, sizeof(packet4));
		payload[i] ^= 1;
		CHECK(!rescue_carried(&p, AF_INET, payload, length));
	}
	for (size_t i = 0; i < 4; i++) {
		length = carry(packet4, sizeof(packet4));
		payload[8 + parts4[i]] ^= 0x10;
		CHECK(!rescue_carried(&p, AF_INET, payload, length));
		length = carry(packet6, sizeof(packet6));
		payload[8 + parts6[i]] ^= 0x10;
		CHECK(!rescue_carried(&p, AF_INET6, payload, length));
	}
}

static void
every_other_length_is_wrong(void)
{
	struct rescue_packet p;

	(void)carry(packet6, sizeof(packet6));
	for (size_t length = 0; length < sizeof(payload); length++)
		CHECK(rescue_carried(&p, AF_INET6, payload, length) ==
		    (length == 8 + sizeof(packet6)));
	(void)carry(packet4, sizeof(packet4));
	for (size_t length = 0; length < sizeof(payload); length++)
		CHECK(rescue_carried(&p, AF_INET, payload, length) ==
		    (length == 8 + sizeof(packet4)));
}

/* An IP header that is longer than the packet, or shorter than any. */
static void
headers_have_bounds(void)
{
	struct rescue_packet p;
	const size_t length = carry(packet4, sizeof(packet4));

	for (unsigned int words = 0; words < 16; words++) {
		payload[8] = (uint8_t)(0x40 | words);
		CHECK(rescue_carried(&p, AF_INET, payload, length) ==
		    (words >= 5 && words * 4 + 8 <= sizeof(packet4)));
	}
}

int
main(void)
{
	TEST(a_packet_of_the_same_family_is_carried);
	TEST(each_part_must_be_right);
	TEST(every_other_length_is_wrong);
	TEST(headers_have_bounds);
	return test_summary();
}
