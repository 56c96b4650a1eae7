/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether and of whom queue threads may ask a domain's usual questions. */
#include <errno.h>

#include "tests/engine.h"

/* A question is answered by the server that is asked, after so long. */
static void
learn(int n, int64_t ms)
{
	ask(n, (char)('a' + n));
	t.now = monotime_add_ms(t.now, ms);
	reply(t.last, true);
	CHECK(t.fate[n] == ANSWERED);
}

static int
offer(void)
{
	return upstream_simple(engine_settings(t.engine), 0,
	    engine_upstream(t.engine, 0) -
	    engine_settings(t.engine)->upstream[0].slot, t.now);
}

/* The usual case: two servers in order, no cache. */
static void
prepare_usual(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
}

/* The offer with these settings, the first server's speed being known. */
static int
offer_with_settings(void)
{
	int offered;

	start();
	learn(0, 5);
	offered = offer();
	CHECK(offer() == offered);
	finish();
	return offered;
}

static void
the_usual_case_is_offered(void)
{
	prepare_usual();
	CHECK(offer_with_settings() == 0);
	/* The order counts, not the index. */
	prepare_usual();
	t.settings.domain[0].upstream[0] = 1;
	t.settings.domain[0].upstream[1] = 0;
	CHECK(offer_with_settings() == 1);
}

/* Whether the cache has an answer is looked at for each question. */
static void
a_cache_is_no_hindrance(void)
{
	prepare();
	CHECK(t.settings.domain[0].cache);
	CHECK(offer_with_settings() == 0);
}

static void
only_one_choice_is_offered(void)
{
	static const bool one[SELECT_WAYS] = {
		[SELECT_FASTEST] = true, [SELECT_ORDERED] = true };

	for (uint32_t way = 0; way < SELECT_WAYS; way++) {
		prepare_usual();
		t.settings.domain[0].select = way;
		start();
		for (uint32_t i = 0; i < 2; i++)
			engine_upstream(t.engine, i)->srtt_us = 5000 - i;
		CHECK((offer() >= 0) == one[way]);
		CHECK(way != SELECT_FASTEST || offer() == 1);
		finish();
		prepare_usual();
		t.settings.domain[0].select = way;
		t.settings.domain[0].upstreams = 1;
		CHECK(offer_with_settings() == 0);
	}
}

static void
only_udp_is_offered(void)
{
	for (uint32_t n = 0; n < FORWARD_TRANSPORTS; n++) {
		const bool udp = n == FORWARD_AUTO || n == FORWARD_UDP;

		prepare_usual();
		t.settings.upstream[0].transport = n;
		start();
		engine_upstream(t.engine, 0)->srtt_us = 5000;
		CHECK(offer() == (udp ? 0 : -1));
		finish();
		prepare_usual();
		t.settings.upstream[1].transport = n;
		CHECK(offer_with_settings() == 0);
	}
}

static void
mixed_case_switches_it_off(void)
{
	prepare_usual();
	t.settings.upstream[0].mix_case = 1;
	start();
	engine_upstream(t.engine, 0)->srtt_us = 5000;
	CHECK(offer() == -1);
	t.settings.upstream[0].mix_case = 0;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	CHECK(offer() == 0);
	finish();
}

/* Questions are handed over in less than these times. */
static void
short_times_switch_it_off(void)
{
	static const struct {
		uint32_t wait_ms, budget_ms;
		int offer;
	} cases[] = {
		{ 0, 5000, 0 }, { 250, 5000, 0 }, { 249, 5000, -1 },
		{ 1, 5000, -1 }, { 0, 500, 0 }, { 0, 499, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		prepare_usual();
		t.settings.attempts.wait_ms = cases[i].wait_ms;
		t.settings.attempts.budget_ms = cases[i].budget_ms;
		start();
		engine_upstream(t.engine, 0)->srtt_us = 5000;
		CHECK(offer() == cases[i].offer);
		finish();
	}
}

static void
only_a_near_server_is_offered(void)
{
	prepare_usual();
	start();
	CHECK(offer() == -1);			/* nothing is known */
	learn(0, 20);
	CHECK(offer() == 0);
	learn(1, 29);				/* 21 ms, smoothed */
	CHECK(offer() == -1);
	for (int n = 2; n < 5; n++)
		learn(n, 10);
	CHECK(offer() == 0);
	finish();
}

static void
only_a_server_that_is_up_is_offered(void)
{
	prepare_usual();
	start();
	for (uint32_t i = 0; i < 2; i++)
		engine_upstream(t.engine, i)->srtt_us = 5000;
	CHECK(offer() == 0);
	engine_upstream(t.engine, 0)->state = UPSTREAM_DOWN;
	CHECK(offer() == 1);
	engine_upstream(t.engine, 0)->state = UPSTREAM_LOOPING;
	CHECK(offer() == 1);
	engine_upstream(t.engine, 1)->state = UPSTREAM_LOOPING;
	CHECK(offer() == -1);
	engine_upstream(t.engine, 1)->state = UPSTREAM_DOWN;
	CHECK(offer() == -1);
	engine_upstream(t.engine, 0)->state = UPSTREAM_UP;
	CHECK(offer() == 0);
	finish();
}

static void
a_lost_attempt_switches_it_off_until_the_next_reply(void)
{
	prepare_usual();
	t.settings.domain[0].upstreams = 1;
	start();
	learn(0, 5);
	CHECK(offer() == 0);
	ask(1, 'b');
	engine_error(t.engine, t.now, t.last, ECONNREFUSED);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_UP);
	CHECK(offer() == -1);
	learn(2, 5);
	CHECK(offer() == 0);
	ask(3, 'd');
	wait_ms(1100);				/* silence is the same */
	CHECK(offer() == -1);
	finish();
}

static void
what_is_asked_over_tcp_is_not_offered(void)
{
	prepare_usual();
	start();
	learn(0, 5);
	for (int n = 0; n < 8; n++)
		upstream_udp_answer(engine_upstream(t.engine, 0), t.now, true);
	CHECK(offer() == -1);
	t.now = monotime_add_ms(t.now, 60000);
	CHECK(offer() == 0);			/* it is tried again */
	engine_upstream(t.engine, 0)->tcp_until =
	    monotime_add_ms(t.now, 1000);
	CHECK(offer() == -1);
	/* One that is never asked over TCP. */
	t.settings.upstream[0].transport = FORWARD_UDP;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	engine_upstream(t.engine, 0)->srtt_us = 5000;
	engine_upstream(t.engine, 0)->tcp_until =
	    monotime_add_ms(t.now, 1000);
	CHECK(offer() == 0);
	finish();
}

static void
no_domain_is_no_offer(void)
{
	prepare_usual();
	start();
	learn(0, 5);
	CHECK(upstream_simple(engine_settings(t.engine), 1,
	    engine_upstream(t.engine, 0) -
	    engine_settings(t.engine)->upstream[0].slot, t.now) == -1);
	t.settings.domains = 0;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	CHECK(offer() == -1);
	finish();
}

/* What a queue thread has seen counts as if the engine had. */
static void
replies_to_queue_threads_count(void)
{
	static struct upstreams shared;
	struct upstream *up = &shared.upstream[0];

	prepare_usual();
	t.shared = &shared;
	start();
	CHECK(engine_upstream(t.engine, 0) == up);
	learn(0, 8);
	CHECK(up->srtt_us == 8000 && up->sent == 1 && up->replies == 1);
	for (int n = 0; n < 7; n++)
		upstream_udp_answer(up, t.now, true);
	upstream_lost(up, t.now, &t.settings.health);
	CHECK(offer() == -1);
	upstream_udp_answer(up, t.now, false);
	upstream_replied(up, t.now, 16000);
	CHECK(up->lost == 0 && up->truncated == 0 &&
	    !monotime_is_set(up->probe_at));
	CHECK(up->replies == 2 && up->srtt_us == 9000 && offer() == 0);
	/* One that was given up has come back. */
	up->state = UPSTREAM_DOWN;
	upstream_replied(up, t.now, 9000);
	CHECK(up->state == UPSTREAM_UP && offer() == 0);
	finish();
	t.shared = NULL;
}

/* Questions that are sent for this one. */
static uint32_t
sends_for(int n)
{
	const uint32_t before = t.sends;

	ask(n, (char)('a' + n));
	return t.sends - before;
}

static void
answer_all(void)
{
	for (uint32_t i = 0; i < SENT; i++)
		if (t.sent[i].open)
			reply(i, true);
}

/* What reaches the engine is the sample, as queue threads ask the rest. */
static void
what_queue_threads_leave_explores(void)
{
	static struct upstreams shared;

	for (int asks = 0; asks < 2; asks++) {
		prepare_usual();
		t.shared = asks ? &shared : NULL;
		t.settings.domain[0].select = SELECT_FASTEST;
		t.settings.attempts.explore = 1;
		start();
		for (uint32_t i = 0; i < 2; i++)
			engine_upstream(t.engine, i)->srtt_us = 5000;
		for (int n = 0; n < 8; n++) {
			/* Else as one in a hundred does. */
			CHECK(sends_for(n) == (asks ? 2 : 1));
			if (!asks)
				answer_all();
		}
		if (asks)
			CHECK(sends_for(8) == 1);	/* now there is more to do */
		answer_all();
		CHECK(sends_for(9) == (asks ? 2 : 1));
		/* And not when they leave all. */
		answer_all();
		engine_upstream(t.engine, 0)->srtt_us = 50000;
		engine_upstream(t.engine, 1)->srtt_us = 50000;
		CHECK(offer() == -1 && sends_for(10) == 1);
		finish();
	}
	t.shared = NULL;
}

static void
nothing_is_explored_if_the_settings_say_so(void)
{
	static struct upstreams shared;

	prepare_usual();
	t.settings.domain[0].select = SELECT_FASTEST;
	t.settings.attempts.explore = 0;
	t.shared = &shared;
	start();
	for (uint32_t i = 0; i < 2; i++)
		engine_upstream(t.engine, i)->srtt_us = 5000;
	CHECK(offer() >= 0);
	for (int n = 0; n < 8; n++)
		CHECK(sends_for(n) == 1);
	finish();
	t.shared = NULL;
}

int
main(void)
{
	TEST(the_usual_case_is_offered);
	TEST(a_cache_is_no_hindrance);
	TEST(only_one_choice_is_offered);
	TEST(only_udp_is_offered);
	TEST(mixed_case_switches_it_off);
	TEST(short_times_switch_it_off);
	TEST(only_a_near_server_is_offered);
	TEST(only_a_server_that_is_up_is_offered);
	TEST(a_lost_attempt_switches_it_off_until_the_next_reply);
	TEST(what_is_asked_over_tcp_is_not_offered);
	TEST(no_domain_is_no_offer);
	TEST(replies_to_queue_threads_count);
	TEST(what_queue_threads_leave_explores);
	TEST(nothing_is_explored_if_the_settings_say_so);
	return test_summary();
}
