/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as they are written, and names of /etc/hosts. */
#include "resolver/feed/resolve.h"

#include <string.h>

#include "tests/check.h"

TEST(literals)
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
TEST(localhost)
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
