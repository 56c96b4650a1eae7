/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a server, and the order in which servers are asked. */
#include "nfq/ask/upstream.h"

#include "tests/check.h"

static struct forward_settings settings;
static struct upstream all[FORWARD_UPSTREAMS];
static const monotime_t now = { 1000000000 };

static void
begin(uint32_t select)
{
	forward_settings_defaults(&settings);
	settings.domain[0] = (struct forward_domain){ .upstreams = 3,
		.upstream = { 0, 1, 2 }, .select = select };
	settings.upstreams = 3;
	for (uint32_t i = 0; i < 3; i++) {
		upstream_init(&all[i], now, &settings.health);
		settings.upstream[i] = (struct forward_upstream){
			.port = i + 1, .slot = i };
	}
}

/* The order as a number, its first server the first digit. */
static uint32_t
order(uint32_t turn)
{
	uint32_t places[FORWARD_PER_DOMAIN], number = 0;
	const uint32_t n = upstream_order(&settings,
	    &settings.domain[0], all, turn, 7, places);

	for (uint32_t i = 0; i < n; i++)
		number = number * 10 + places[i] + 1;
	return number;
}

TEST(orders)
{
	begin(SELECT_ORDERED);
	CHECK(order(0) == 123);
	upstream_lost(&all[0], now, &settings.health);
	CHECK(order(0) == 231);
	upstream_replied(&all[0], now, 900);
	CHECK(order(0) == 123);
	upstream_looped(&all[1], now, &settings.health);
	CHECK(order(0) == 13);
	begin(SELECT_FASTEST);
	upstream_replied(&all[0], now, 900);
	upstream_replied(&all[1], now, 100);
	CHECK(order(0) == 321);
	begin(SELECT_ROUND_ROBIN);
	CHECK(order(1) == 231);
	CHECK(order(2) == 312);
}

TEST(goes_down_and_up_again)
{
	begin(SELECT_ORDERED);
	for (uint32_t i = 0; i <= settings.health.losses; i++) {
		CHECK(all[0].state == UPSTREAM_UP);
		upstream_lost(&all[0], now, &settings.health);
	}
	CHECK(all[0].state == UPSTREAM_DOWN);
	CHECK(order(0) == 231);
	CHECK(monotime_ms_since(all[0].probe_at, now) == 0);
	upstream_probed(&all[0], now, &settings.health);
	CHECK(monotime_ms_since(all[0].probe_at, now) == 1000);
	upstream_probed(&all[0], now, &settings.health);
	CHECK(monotime_ms_since(all[0].probe_at, now) == 2000);
	upstream_replied(&all[0], now, 50);
	CHECK(all[0].state == UPSTREAM_UP);
	CHECK(!monotime_is_set(all[0].probe_at));
}

/* Three times its usual time within bounds; less where room is short. */
TEST(waits)
{
	begin(SELECT_ORDERED);
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, false) == 400);
	all[0].srtt_us = 1000;
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, false) == 250);
	all[0].srtt_us = 200000;
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, false) == 600);
	all[0].srtt_us = 2000000;
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, false) == 1000);
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, true) == 20);
	settings.attempts.wait_ms = 77;
	CHECK(upstream_wait_ms(&all[0], &settings.attempts, true) == 77);
}

/* One that only truncates is asked over TCP for a while, then over UDP once. */
TEST(who_truncates_is_asked_over_tcp)
{
	const monotime_t over = monotime_add_ms(now, 60000);
	struct upstream *up = &all[0];

	begin(SELECT_ORDERED);
	for (int i = 0; i < 7; i++)
		upstream_udp_answer(up, now, true);
	upstream_udp_answer(up, now, false);
	for (int i = 0; i < 7; i++)
		upstream_udp_answer(up, now, true);
	CHECK(!upstream_over_tcp(up, now, false));
	upstream_udp_answer(up, now, true);
	CHECK(upstream_over_tcp(up, now, false));
	CHECK(!upstream_over_tcp(up, over, false));
	upstream_udp_answer(up, over, true);
	CHECK(upstream_over_tcp(up, over, false));
	upstream_tcp_lost(up);
	CHECK(!upstream_over_tcp(up, over, false));
	upstream_udp_answer(up, over, true);
	CHECK(!upstream_over_tcp(up, over, false));
}

TEST(who_is_silent_over_udp_is_asked_over_tcp)
{
	const monotime_t over = monotime_add_ms(now, 60000);
	struct upstream *up = &all[0];

	begin(SELECT_ORDERED);
	upstream_tcp_probe_replied(up, now);
	CHECK(upstream_over_tcp(up, now, false));
	/* Then UDP is tried, and TCP at once if that is lost. */
	CHECK(!upstream_over_tcp(up, over, false));
	CHECK(upstream_over_tcp(up, over, true));
	upstream_udp_answer(up, over, false);
	CHECK(!upstream_over_tcp(up, over, true));
}

/* So what is known of it stays, whatever becomes of the others. */
TEST(an_upstream_keeps_its_slot)
{
	static struct forward_settings after;
	static struct upstreams known;

	begin(SELECT_ORDERED);
	forward_settings_place(&settings, NULL);
	upstreams_enter(&known, now, &settings, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(settings.upstream[i].slot == i);
		known.upstream[i].replies = i + 1;
	}
	after = settings;
	after.upstreams = 2;
	after.upstream[0] = settings.upstream[2];
	after.upstream[1].port = 4;		/* another */
	after.upstream[0].slot = after.upstream[1].slot = 77;
	forward_settings_place(&after, &settings);
	CHECK(after.upstream[0].slot == 2 && after.upstream[1].slot == 3);
	upstreams_enter(&known, now, &after, &settings);
	CHECK(known.upstream[2].replies == 3 && known.upstream[3].replies == 0);
	/* The next time slots are free again. */
	settings.upstream[0].port = 5;
	settings.upstreams = 1;
	forward_settings_place(&settings, &after);
	CHECK(settings.upstream[0].slot == 0);
	upstreams_enter(&known, now, &settings, &after);
	CHECK(known.upstream[0].replies == 0);
}
