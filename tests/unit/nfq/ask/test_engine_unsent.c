/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing can be sent to any server: the link is down, or descriptors are used up.
 */
#include "tests/engine.h"

#include <errno.h>

#define AGAIN_MS	50
#define WAIT_MS		500	/* in all */

static void
begin(void)
{
	prepare();
	t.settings.cache.stale = STALE_AFTER_WAIT;
	start();
	t.send_error = -ENETUNREACH;
}

TEST(it_is_asked_as_soon_as_it_can_be)
{
	begin();
	ask(0, 'a');
	CHECK(t.fate[0] == ASKED && t.unsent == 2);
	wait_ms(AGAIN_MS - 1);
	CHECK(t.unsent == 2);
	wait_ms(1);
	CHECK(t.fate[0] == ASKED && t.unsent == 4);
	t.send_error = 0;
	wait_ms(AGAIN_MS);
	CHECK(t.sends == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* Who waits for it is told in time that there is no network. */
TEST(it_fails_after_half_a_second)
{
	begin();
	ask(0, 'a');
	wait_ms(WAIT_MS - 1);
	CHECK(t.fate[0] == ASKED);
	wait_ms(1);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	CHECK(t.unsent == 2 + 2 * WAIT_MS / AGAIN_MS && t.sends == 0);
	CHECK(engine_stats(t.engine)->questions == 0);
	finish();
}

/* The same after the wait: its attempts are as many as ever. */
TEST(silence_afterwards_is_waited_for_as_ever)
{
	begin();
	ask(0, 'a');
	wait_ms(2 * AGAIN_MS);
	t.send_error = 0;
	wait_ms(3999 - 2 * AGAIN_MS);
	CHECK(t.fate[0] == ASKED && t.sends >= 4);
	wait_ms(1);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	finish();
}

TEST(who_joins_gets_the_same)
{
	begin();
	ask(0, 'a');
	wait_ms(AGAIN_MS / 2);
	ask(1, 'a');
	CHECK(t.unsent == 2);
	t.send_error = 0;
	wait_ms(AGAIN_MS);
	CHECK(t.sends == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && t.fate[1] == ANSWERED);
	finish();
}

TEST(what_passes_passes_at_once)
{
	prepare();
	t.settings.domain[0].fallback = FALLBACK_PASS;
	start();
	t.send_error = -ENETUNREACH;
	ask(0, 'a');
	CHECK(t.fate[0] == PASSED);
	CHECK((*engine_domain(t.engine, 0))[DOMAIN_PASSED] == 1);
	finish();
}

/* An answer of before is better than a wait. */
TEST(a_stale_answer_is_given_at_once)
{
	prepare();
	start();
	ask(0, 'a');
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED);
	wait_ms(61000);
	t.send_error = -ENETDOWN;
	ask(1, 'a');
	CHECK(t.fate[1] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* A server that has failed is an answer, too. */
TEST(a_failure_of_a_server_is_given_at_once)
{
	uint8_t octets[512];
	uint32_t first;

	prepare();
	start();
	ask(0, 'a');
	first = t.last;
	memcpy(octets, t.sent[first].octets, t.sent[first].length);
	octets[2] |= 0x80;
	octets[3] = RCODE_SERVFAIL;
	t.send_error = -ENETDOWN;
	engine_reply(t.engine, t.now, first, octets, t.sent[first].length);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	CHECK(t.unsent == 1);
	finish();
}

/* New settings meanwhile count for it. */
TEST(a_reload_meanwhile_counts)
{
	begin();
	ask(0, 'a');
	t.settings.upstream[0].port = 7;
	t.settings.upstream[1].port = 8;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	t.send_error = 0;
	wait_ms(AGAIN_MS);
	CHECK(t.fate[0] == ASKED && t.sends == 1 && t.sent[t.last].port == 7);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* At the end nothing is left of it. */
TEST(the_end_comes_while_it_waits)
{
	begin();
	ask(0, 'a');
	finish();
	CHECK(t.fate[0] != ASKED);
}

/* Who opens sockets for us says so later: that is as if we had tried ourselves. */
TEST(what_another_could_not_send_is_the_same)
{
	prepare();
	start();
	ask(0, 'a');
	for (int n = 0; n < 2; n++)
		engine_unsent(t.engine, t.now, t.last, EMFILE);
	CHECK(t.fate[0] == ASKED && t.sends == 2);
	CHECK(engine_stats(t.engine)->attempts == 0);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_UP);
	CHECK(engine_upstream(t.engine, 0)->lost == 0);
	wait_ms(AGAIN_MS);
	CHECK(t.sends == 3);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}
