/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a silent peer is asked for a sign of life. */
#include "resolver/feed/keepalive.h"

#include "tests/check.h"

#define AT(ms)	monotime_from_ms(1000000 + (ms))

TEST(asks_a_silent_peer)
{
	struct keepalive k;

	keepalive_start(&k, 30000, AT(0));
	CHECK(keepalive_step(&k, AT(29999)) == KEEPALIVE_WAIT);
	CHECK(keepalive_step(&k, AT(30000)) == KEEPALIVE_PING);
	keepalive_sent(&k, AT(30000));
	CHECK(keepalive_step(&k, AT(39999)) == KEEPALIVE_WAIT);
	CHECK(keepalive_step(&k, AT(40000)) == KEEPALIVE_DEAD);
	keepalive_heard(&k, AT(39000));
	CHECK(keepalive_step(&k, AT(68999)) == KEEPALIVE_WAIT);
	CHECK(keepalive_step(&k, AT(69000)) == KEEPALIVE_PING);
}

TEST(octets_are_life)
{
	struct keepalive k;

	keepalive_start(&k, 30000, AT(0));
	for (int64_t ms = 0; ms < 600000; ms += 20000) {
		keepalive_heard(&k, AT(ms));
		CHECK(keepalive_step(&k, AT(ms + 19999)) == KEEPALIVE_WAIT);
	}
}

/* istiod ends a connection whose pings are less than 15 s apart. */
TEST(pings_are_apart)
{
	struct keepalive k;

	keepalive_start(&k, 30000, AT(0));
	keepalive_suspect(&k, AT(1000));
	CHECK(keepalive_step(&k, AT(1000)) == KEEPALIVE_PING);
	keepalive_sent(&k, AT(1000));
	keepalive_heard(&k, AT(1001));
	keepalive_suspect(&k, AT(2000));
	CHECK(keepalive_step(&k, AT(15999)) == KEEPALIVE_WAIT);
	CHECK(keepalive_step(&k, AT(16000)) == KEEPALIVE_PING);
}

TEST(slower_after_a_complaint)
{
	int64_t ms = KEEPALIVE_INTERVAL_MS;

	ms = keepalive_slower(ms);
	CHECK(ms == 60000);
	for (int i = 0; i < 100; i++)
		ms = keepalive_slower(ms);
	CHECK(ms == KEEPALIVE_INTERVAL_MOST_MS);
}
