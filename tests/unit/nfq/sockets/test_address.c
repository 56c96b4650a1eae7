/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of sockets from octets and back. */
#include "nfq/sockets/open.h"

#include <string.h>

#include "tests/check.h"

static const uint8_t v4[16] = { 192, 0, 2, 1 };
static const uint8_t v6[16] = { 0xfe, 0x80, [15] = 1 };

TEST(octets_come_back)
{
	union sockets_address a;
	uint8_t octets[16] = { 0 };
	uint16_t port;

	CHECK(sockets_address_make(&a, AF_INET, v4, 53, 0) == sizeof(a.v4));
	CHECK(a.v4.sin_family == AF_INET && a.v4.sin_port == htons(53));
	CHECK(sockets_address_split(&a, octets, &port) == 4);
	CHECK(memcmp(octets, v4, 16) == 0 && port == 53);
	CHECK(sockets_address_make(&a, AF_INET6, v6, 65535, 7) == sizeof(a.v6));
	CHECK(a.v6.sin6_family == AF_INET6 && a.v6.sin6_scope_id == 7);
	CHECK(a.v6.sin6_flowinfo == 0);
	CHECK(sockets_address_split(&a, octets, &port) == 16);
	CHECK(memcmp(octets, v6, 16) == 0 && port == 65535);
}

TEST(hosts_are_compared_without_ports)
{
	const uint8_t others[16] = { 0xfe, 0x80, [15] = 2 };
	union sockets_address a, b;

	for (int n = 0; n < 2; n++) {
		const int family = n == 0 ? AF_INET : AF_INET6;

		(void)sockets_address_make(&a, family, v6, 53, 0);
		(void)sockets_address_make(&b, family, v6, 54, 0);
		CHECK(sockets_address_same_host(&a, &b));
		(void)sockets_address_make(&b, family, n == 0 ? v4 : others,
		    53, 0);
		CHECK(!sockets_address_same_host(&a, &b));
	}
}
