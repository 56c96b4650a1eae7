/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cases of tests/conformance/test_forward cannot ask for: limits, chains,
 * clients that go, reloads, forged replies.
 */
#include "tests/engine.h"

TEST(a_user_cannot_take_all)
{
	prepare();
	t.settings.limits.held = 5;
	start();
	for (int i = 0; i < 5; i++)
		ask_with(i, (char)('a' + i), 1000, NULL);
	CHECK(t.fate[3] == ASKED && t.fate[4] == ANSWERED &&
	    rcode() == RCODE_REFUSED);
	ask_with(5, 'f', 1001, NULL);
	CHECK(t.fate[5] == ASKED);
	wait_ms(5000);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	ask_with(6, 'g', 1000, NULL);
	CHECK(t.fate[6] == ASKED);
	CHECK(engine_stats(t.engine)->held == 1);
	finish();
	CHECK(t.fate[6] == PASSED);
}

TEST(never_more_than_held_in_all)
{
	prepare();
	t.settings.limits.held = 4;
	start();
	for (int i = 0; i < 6; i++)
		ask_with(i, (char)('a' + i), (uint32_t)i, NULL);
	CHECK(t.fate[3] == ASKED && t.fate[4] == ANSWERED);
	CHECK(rcode() == RCODE_REFUSED);
	wait_ms(5000);
	CHECK(engine_stats(t.engine)->held == 0 &&
	    engine_stats(t.engine)->questions == 0);
	finish();
}

TEST(refreshes_have_a_part_of_their_own)
{
	prepare();
	t.settings.limits.domain = 8;
	t.settings.cache.prefetch_hits = 0;
	start();
	for (int i = 0; i < 4; i++) {
		ask(i, (char)('a' + i));
		reply(t.last, true);
	}
	CHECK(t.sends == 4);
	wait_ms(58000);
	t.sends = 0;
	for (int i = 4; i < 8; i++)
		ask(i, (char)('a' + i - 4));
	CHECK(t.fate[4] == ANSWERED && t.fate[7] == ANSWERED);
	CHECK(t.sends == 1);
	reply(t.last, true);
	wait_ms(1000);
	t.sends = 0;
	ask(8, 'b');
	CHECK(t.sends <= 1 && t.fate[8] == ANSWERED);
	finish();
}

TEST(one_answer_for_equal_questions)
{
	prepare();
	start();
	ask(0, 'a');
	ask(1, 'a');
	ask(2, 'A');
	CHECK(t.sends == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && t.fate[1] == ANSWERED);
	CHECK(t.answer[1] == 2 && t.answer[13] == 'A');
	finish();
}

TEST(forged_replies_lead_to_tcp)
{
	uint32_t first;

	prepare();
	start();
	ask(0, 'a');
	first = t.last;
	for (int i = 0; i < 15; i++)
		reply(first, false);
	CHECK(t.sent[first].open && t.sends == 1);
	reply(first, false);
	CHECK(t.sends == 2 && t.sent[t.last].transport == FORWARD_TCP);
	CHECK(t.fate[0] == ASKED);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

TEST(a_dead_first_server_costs_one_question)
{
	prepare();
	start();
	ask(0, 'a');
	CHECK(t.sent[t.last].port == 1);
	wait_ms(450);				/* then comes its probe, too */
	for (uint32_t i = 0; i < SENT; i++)
		if (t.sent[i].open && t.sent[i].port == 2)
			reply(i, true);
	CHECK(t.fate[0] == ANSWERED);
	ask(1, 'b');
	CHECK(t.sent[t.last].port == 2);
	finish();
}

/* After UDP was in vain, TCP answers a probe: the next question goes over TCP. */
TEST(a_server_over_tcp_alone_is_found)
{
	uint32_t probe = NOBODY;

	prepare();
	t.settings.domain[0].upstreams = 1;
	start();
	for (int n = 0; n < 3; n++) {
		ask(n, (char)('a' + n));
		CHECK(t.sent[t.last].transport == FORWARD_UDP);
		wait_ms(5000);
	}
	ask(3, 'd');
	for (int n = 0; n < 60 && probe == NOBODY; n++) {
		wait_ms(1000);
		for (uint32_t i = 0; i < SENT; i++)
			if (t.sent[i].open &&
			    t.sent[i].transport == FORWARD_TCP)
				probe = i;
	}
	CHECK(probe != NOBODY);
	reply_empty(probe);
	ask(4, 'e');
	CHECK(t.sent[t.last].transport == FORWARD_TCP);
	reply(t.last, true);
	CHECK(t.fate[4] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* x.test CNAME far.example, as answer_build() writes it. */
static const uint8_t chain[] = "\1\0\205\200\0\1\0\1\0\0\0\0\1x\4test\0\0\1\0\1"
    "\300\14\0\5\0\1\0\0\0\36\0\15\3far\7example\0";
static const struct chase chase = { .chain = chain,
	.length = sizeof(chain) - 1, .target = 36 };

TEST(a_chain_is_completed)
{
	prepare();
	start();
	ask_with(0, 'x', 0, &chase);
	CHECK(t.sends == 1 && memcmp(t.sent[t.last].octets + 12,
	    "\3far\7example", 13) == 0);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && t.answer[7] == 2);
	CHECK(rcode() == RCODE_NOERROR && t.answer[13] == 'x');
	ask_with(1, 'x', 0, &chase);		/* its end is in the cache */
	CHECK(t.fate[1] == ANSWERED && t.sends == 1 && t.answer[7] == 2);
	finish();
}

TEST(a_chain_stays_if_its_end_fails)
{
	prepare();
	start();
	ask_with(0, 'x', 0, &chase);
	wait_ms(5000);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	CHECK(t.answer[7] == 1);
	finish();
}

TEST(a_clients_own_nameserver_is_not_trusted_by_others)
{
	prepare();
	t.settings.domain[0].name[0] = 3;
	memcpy(t.settings.domain[0].name + 1, "far", 3);
	start();
	ask_with(0, 'x', 0, &chase);
	CHECK(t.sends == 1 && t.sent[t.last].port == 53);
	ask_with(1, 'x', 1, &chase);
	CHECK(t.sends == 2);			/* not joined */
	reply(t.last, true);
	CHECK(t.fate[1] == ANSWERED && t.fate[0] == ASKED);
	ask_with(2, 'x', 2, &chase);
	CHECK(t.sends == 3);			/* and not kept */
	ask(3, 'a');
	CHECK(t.fate[3] == PASSED);		/* of no domain */
	finish();
}

/* RFC 7766, section 6.2.1: without another id, nothing more goes over the stream. */
TEST(an_id_is_used_once_on_a_stream)
{
	for (int tcp = 0; tcp < 2; tcp++) {
		prepare();
		t.settings.upstreams = t.settings.domain[0].upstreams = 1;
		t.settings.upstream[0].transport = tcp ? FORWARD_TCP :
		    FORWARD_UDP;
		t.step = 0;	/* the same octets again and again */
		start();
		ask(0, 'a');
		ask(1, 'b');
		CHECK(t.sends == (tcp ? 1 : 2));
		reply(0, true);
		CHECK(t.fate[0] == ANSWERED);
		finish();
	}
}

TEST(reload_goes_on_with_questions)
{
	uint32_t first;

	prepare();
	start();
	ask(0, 'a');
	first = t.last;
	ask(1, 'b');
	reply(t.last, true);
	CHECK(engine_upstream(t.engine, 0)->replies == 1);
	/* The first server goes, the second becomes the first. */
	t.settings.upstreams = 1;
	t.settings.upstream[0] = t.settings.upstream[1];
	t.settings.domain[0].upstreams = 1;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	CHECK(t.sent[first].open);
	CHECK(engine_upstream(t.engine, 0)->replies == 0);
	reply(first, true);
	CHECK(t.fate[0] == ANSWERED);
	ask(2, 'b');				/* flushed: it was another's */
	CHECK(t.fate[2] == ASKED && t.sent[t.last].port == 2);
	/* And no domain at all. */
	t.settings.domains = 0;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	wait_ms(5000);
	CHECK(t.fate[2] == ANSWERED && rcode() == RCODE_SERVFAIL);
	finish();
}

/* FORMERR asks the same server once more, which is none of ours any longer. */
TEST(a_removed_server_is_not_asked_again)
{
	uint8_t octets[MESSAGE_ASK_MAX];
	uint32_t first;

	prepare();
	start();
	ask(0, 'a');
	first = t.last;
	t.settings.upstreams = 1;
	t.settings.upstream[0] = t.settings.upstream[1];
	t.settings.domain[0].upstreams = 1;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	memcpy(octets, t.sent[first].octets, t.sent[first].length);
	octets[2] |= 0x80;
	octets[3] |= RCODE_FORMERR;
	engine_reply(t.engine, t.now, first, octets, t.sent[first].length);
	CHECK(t.sends == 2 && t.sent[t.last].port == 2);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* Sends a message of the engine's back to it, as a question of somebody. */
static void
lead_back(int n, uint32_t attempt)
{
	memcpy(t.messages[n], t.sent[attempt].octets, t.sent[attempt].length);
	t.clients[n] = (struct engine_client){ .message = t.messages[n],
		.length = t.sent[attempt].length,
		.nameserver = { .family = AF_INET, .port = 53 } };
	t.fate[n] = ASKED;
	ask_client(&t.clients[n]);
}

/* Its reply has a token that nobody knows any more: it is no forged one. */
TEST(a_second_look_replaces_the_first)
{
	uint32_t first;

	prepare();
	t.settings.health.loops = 1;
	start();
	wait_ms(0);
	first = t.last;
	CHECK(t.sent[first].open);
	wait_ms(5);
	engine_look_for_loops(t.engine, t.now);
	wait_ms(1);
	CHECK(t.last != first);
	reply(first, true);
	CHECK(engine_stats(t.engine)->mismatched == 0);
	CHECK(!t.sent[first].open);
	CHECK(t.sent[t.last].open);
	finish();
}

TEST(an_upstream_that_leads_back_is_switched_off)
{
	static const uint8_t stub[] = "\4stub\4test";
	uint32_t probe = SENT;

	prepare();
	t.settings.health.loops = 1;
	t.settings.domains = 2;
	t.settings.domain[1] = t.settings.domain[0];
	memcpy(t.settings.domain[1].name, stub, sizeof(stub));
	t.settings.domain[1].upstreams = 1;	/* the first serves both */
	t.settings.domain[2] = t.settings.domain[1];	/* is none of them */
	start();
	wait_ms(0);
	CHECK(t.sends == 3);
	for (uint32_t i = 0; i < SENT; i++)
		if (t.sent[i].open && t.sent[i].port == 1 &&
		    memcmp(t.sent[i].octets + 12 + 17, "\12nfdns-loop\4stub",
		    16) == 0)
			probe = i;
	CHECK(probe < SENT);
	lead_back(0, probe);
	CHECK(t.fate[0] == DROPPED && engine_stats(t.engine)->loops == 1);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_LOOPING);
	CHECK(engine_upstream(t.engine, 1)->state == UPSTREAM_UP);
	ask(1, 'a');
	CHECK(t.sent[t.last].port == 2);
	reply(t.last, true);
	CHECK(t.fate[1] == ANSWERED);
	/* A minute later it is tried again. */
	wait_ms(30000);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_LOOPING);
	t.sends = 0;
	wait_ms(31000);
	CHECK(t.sends == 2 && t.sent[t.last].port == 1);
	lead_back(2, t.last);
	CHECK(t.fate[2] == DROPPED);
	/* And in another minute it asks somebody else: none comes back. */
	wait_ms(63000);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_UP);
	finish();
}

TEST(what_is_no_question_passes)
{
	prepare();
	start();
	t.clients[0] = (struct engine_client){
		.message = (const uint8_t *)"junk", .length = 4 };
	ask_client(&t.clients[0]);
	CHECK(t.fate[0] == PASSED && t.sends == 0);
	finish();
}
