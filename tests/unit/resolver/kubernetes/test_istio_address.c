/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses for ServiceEntries without one: whose they are, and that they stay. */
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "resolver/image/mesh.h"
#include "resolver/kubernetes/istio_address.h"

static struct istio_addresses taken;

static bool
takes(const char *host, const char *v4, const char *v6)
{
	struct istio_address address;
	char text4[INET_ADDRSTRLEN], text6[INET6_ADDRSTRLEN];

	if (istio_address_take(&taken, "ns2", host, &address) != 0)
		return false;
	(void)inet_ntop(AF_INET, address.v4, text4, sizeof(text4));
	(void)inet_ntop(AF_INET6, address.v6, text6, sizeof(text6));
	if (strcmp(text4, v4) == 0 && strcmp(text6, v6) == 0)
		return true;
	printf("  %s has %s and %s\n", host, text4, text6);
	return false;
}

static void
clear(void)
{
	memset(&taken, 0, sizeof(taken));
}

/* What istiod gave to its test's entries. */
TEST(test_istio_addresses_are_istiods)
{
	clear();
	CHECK(takes("random-1.host.example", "240.240.116.21",
	    "2001:2::f0f0:7415"));
	CHECK(takes("random-3.host.example", "240.240.81.100",
	    "2001:2::f0f0:5164"));
}

/* Whoever else is there, in whatever order, short of a collision. */
TEST(test_others_move_nothing)
{
	struct istio_address alone, beside, other;

	clear();
	CHECK(istio_address_take(&taken, "a", "x.example", &alone) == 0);
	clear();
	CHECK(istio_address_take(&taken, "b", "x.example", &other) == 0);
	CHECK(istio_address_take(&taken, "a", "x.example", &beside) == 0);
	CHECK(memcmp(&alone, &beside, sizeof(alone)) == 0);
	CHECK(memcmp(&alone, &other, sizeof(alone)) != 0);
}

/* An address that the mesh gave to somebody is not given a second time. */
TEST(test_reserved_is_left)
{
	static const uint8_t v4[4] = { 240, 240, 116, 21 };
	static const uint8_t elsewhere[4] = { 10, 240, 116, 21 };
	uint8_t v6[16];
	struct istio_address address;

	clear();
	istio_address_reserve(&taken, v4, sizeof(v4));
	CHECK(istio_address_take(&taken, "ns2", "random-1.host.example",
	    &address) == 0);
	CHECK(memcmp(address.v4, v4, sizeof(v4)) != 0);
	CHECK(istio_range_has(address.v4, 4));
	CHECK(istio_range_has(address.v6, 16));

	clear();
	CHECK(inet_pton(AF_INET6, "2001:2::f0f0:7415", v6) == 1);
	istio_address_reserve(&taken, v6, sizeof(v6));
	CHECK(istio_address_take(&taken, "ns2", "random-1.host.example",
	    &address) == 0);
	CHECK(memcmp(address.v6, v6, sizeof(v6)) != 0);

	clear();
	istio_address_reserve(&taken, elsewhere, sizeof(elsewhere));
	CHECK(!istio_range_has(elsewhere, sizeof(elsewhere)));
	CHECK(takes("random-1.host.example", "240.240.116.21",
	    "2001:2::f0f0:7415"));
}

/* Until none is left: no address twice, none that is a network's own. */
TEST(test_all_differ_until_none_is_left)
{
	static uint8_t seen4[65536], seen6[65536];
	struct istio_address address;
	unsigned int count = 0, wrong = 0;
	char host[32];
	int error;

	clear();
	for (;;) {
		(void)snprintf(host, sizeof(host), "h%u.example", count);
		error = istio_address_take(&taken, "ns", host, &address);
		if (error != 0)
			break;
		wrong += seen4[address.v4[2] << 8 | address.v4[3]]++;
		wrong += seen6[address.v6[14] << 8 | address.v6[15]]++;
		wrong += address.v4[3] == 0 || address.v4[3] == 255;
		wrong += !istio_range_has(address.v4, 4);
		wrong += !istio_range_has(address.v6, 16);
		count++;
	}
	CHECK(error == -ENOSPC);
	CHECK(wrong == 0);
	CHECK(count > 60000);
	CHECK(istio_address_take(&taken, "ns", "more", &address) == -ENOSPC);
}
