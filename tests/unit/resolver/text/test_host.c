/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/host.h"

#include <string.h>
#include <sys/socket.h>

#include "tests/check.h"

static bool
splits(const char *text, const char *host, uint16_t port)
{
	char found[HOST_TEXT];
	uint16_t number = 0;

	return host_split(text, found, &number) &&
	    strcmp(found, host) == 0 && number == port;
}

static bool
is_refused(const char *text)
{
	char host[HOST_TEXT];
	uint16_t port;

	return !host_split(text, host, &port);
}

TEST(host_and_port)
{
	char long_one[HOST_TEXT + 16];

	CHECK(splits("istiod.istio-system.svc:15012",
	    "istiod.istio-system.svc", 15012));
	CHECK(splits("192.0.2.1:1", "192.0.2.1", 1));
	CHECK(splits("[2001:db8::1]:65535", "2001:db8::1", 65535));
	CHECK(is_refused("istiod") && is_refused("istiod:"));
	CHECK(is_refused(":15012") && is_refused("[]:15012"));
	CHECK(is_refused("istiod:0") && is_refused("istiod:65536"));
	CHECK(is_refused("istiod:15012x") && is_refused("istiod:-1"));
	CHECK(is_refused("2001:db8::1:15012") && is_refused("[2001:db8::1:15012"));
	CHECK(is_refused("istiod:99999999999999999999") && is_refused(""));
	memset(long_one, 'a', sizeof(long_one));
	memcpy(long_one + sizeof(long_one) - 3, ":1", 3);
	CHECK(is_refused(long_one));
}

TEST(servers)
{
	static const char *const good[] = { "istiod.istio-system.svc:15012",
		"_a-b.C9:1", "192.0.2.1:53", "[2001:db8::1]:15012" };
	static const char *const bad[] = { "a b:1", "a/b:1", "[192.0.2.1]:1",
		"[name]:1", "2001:db8::1:1", "name", "name:0x10", "\xe4:1" };
	char name[300];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(host_is_server(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!host_is_server(bad[i]));
	memset(name, 'a', sizeof(name));
	memcpy(name + 253, ":1", 3);
	CHECK(host_is_server(name));
	memcpy(name + 253, "a:1", 4);
	CHECK(!host_is_server(name));
}

TEST(addresses)
{
	static const uint8_t v4[] = { 192, 0, 2, 1 }, v6[16] = { 0x20, 0x01,
		0x0d, 0xb8, [15] = 1 };
	uint8_t address[16];

	CHECK(host_address("192.0.2.1", address) == AF_INET);
	CHECK(memcmp(address, v4, sizeof(v4)) == 0);
	CHECK(host_address("2001:db8::1", address) == AF_INET6);
	CHECK(memcmp(address, v6, sizeof(v6)) == 0);
	CHECK(host_address("", address) == AF_UNSPEC);
	CHECK(host_address("192.0.2.256", address) == AF_UNSPEC);
	CHECK(host_address("192.0.2.1/32", address) == AF_UNSPEC);
	CHECK(host_address("fe80::1%lo", address) == AF_UNSPEC);
	CHECK(host_address("[::1]", address) == AF_UNSPEC);
}

TEST(loopback_addresses)
{
	static const uint8_t v4[16] = { 127, 9, 9, 9 }, v6[16] = { [15] = 1 },
		other[16] = { 128 };

	CHECK(host_is_loopback(AF_INET, v4) && !host_is_loopback(AF_INET6, v4));
	CHECK(host_is_loopback(AF_INET6, v6) && !host_is_loopback(AF_INET, v6));
	CHECK(!host_is_loopback(AF_INET, other));
}

TEST(bits_of_addresses)
{
	static const uint8_t a[16] = { 10, 0, 0x81 }, b[16] = { 10, 0, 0x80 },
		c[16] = { 11 };

	CHECK(host_same_bits(a, b, 0) && host_same_bits(a, c, 7));
	CHECK(!host_same_bits(a, c, 8) && host_same_bits(a, b, 16));
	CHECK(host_same_bits(a, b, 23) && !host_same_bits(a, b, 24));
	CHECK(!host_same_bits(a, b, 128) && host_same_bits(a, a, 128));
}
