/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "HOST:PORT", addresses as they are written, and names of /etc/hosts. */
#include "resolver/feed/resolve.h"

#include <string.h>

#include "tests/check.h"

static bool
splits(const char *server, const char *host, uint16_t port)
{
	char found[FEED_TEXT];
	uint16_t number = 0;

	return resolve_split(server, found, &number) &&
	    strcmp(found, host) == 0 && number == port;
}

static bool
is_refused(const char *server)
{
	char host[FEED_TEXT];
	uint16_t port;

	return !resolve_split(server, host, &port);
}

static void
host_and_port(void)
{
	char long_one[FEED_TEXT + 16];

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

static void
literals(void)
{
	struct resolve_addresses all = { .count = 0 };
	char text[FEED_TEXT];

	CHECK(!resolve_literal("istiod", 1, &all) && all.count == 0);
	CHECK(!resolve_literal("192.0.2.256", 1, &all));
	CHECK(resolve_literal("192.0.2.1", 15012, &all));
	CHECK(resolve_literal("2001:db8::1", 15012, &all) && all.count == 2);
	resolve_print(&all.list[0], text);
	CHECK(strcmp(text, "192.0.2.1:15012") == 0);
	resolve_print(&all.list[1], text);
	CHECK(strcmp(text, "[2001:db8::1]:15012") == 0);
	while (resolve_literal("192.0.2.1", 1, &all))
		;
	CHECK(all.count == RESOLVE_ADDRESSES);
}

/* Answered by /etc/hosts: no question leaves the machine. */
static void
localhost(void)
{
	struct resolve *r = resolve_new("localhost", 15012);
	const struct resolve_addresses *found;
	struct pollfd fds[RESOLVE_FDS];
	char text[FEED_TEXT] = "";
	const char *why;

	CHECK(r != NULL);
	for (int i = 0; i < 100; i++) {
		size_t count = resolve_poll(r, fds);

		(void)poll(fds, (nfds_t)count, count == 0 ? 0 : 10);
		if (resolve_step(r, fds, count))
			break;
	}
	found = resolve_result(r, &why);
	CHECK(found != NULL && resolve_timeout_ms(r) == 0);
	if (found != NULL)
		resolve_print(&found->list[0], text);
	CHECK(strcmp(text, "127.0.0.1:15012") == 0 ||
	    strcmp(text, "[::1]:15012") == 0);
	resolve_free(r);
	/* Given up before there is an answer. */
	r = resolve_new("localhost", 1);
	resolve_free(r);
	resolve_free(NULL);
}

int
main(void)
{
	TEST(host_and_port);
	TEST(literals);
	TEST(localhost);
	return test_summary();
}
