/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that a queue thread has asked, and the engine goes on with. */
#include <errno.h>

#include "tests/engine.h"

#define ID	0x4e46

/* As resume() below; "replied": a reply has come. */
static uint32_t
resume_with(int n, char name, uint32_t upstream, int64_t ms_ago, bool replied)
{
	struct engine_client *client = client_of(n, name, 0, NULL);
	const struct engine_begun begun = { .upstream = upstream, .id = ID,
		.replied = replied, .sent = monotime_add_ms(t.now, -ms_ago) };
	const uint32_t attempt = engine_resume(t.engine, t.now, client,
	    &begun);
	struct message_ask ask = { .question = &client->question,
		.edns = true };

	if (attempt == ENGINE_NO_ATTEMPT)
		return attempt;
	CHECK(attempt < SENT && !t.sent[attempt].open);
	t.sent[attempt].open = true;
	t.sent[attempt].transport = FORWARD_UDP;
	t.sent[attempt].port = upstream + 1;
	t.sent[attempt].length = message_ask(&ask, ID,
	    t.sent[attempt].octets);
	return attempt;
}

/*
 * Client n's question was asked of that upstream so many milliseconds ago; a negative
 * number: since this round began.
 */
static uint32_t
resume(int n, char name, uint32_t upstream, int64_t ms_ago)
{
	return resume_with(n, name, upstream, ms_ago, false);
}

/* A reply with a code and without records. */
static void
reply_code(uint32_t attempt, uint8_t flags, uint8_t code)
{
	uint8_t octets[MESSAGE_ASK_MAX];
	const bool edns = t.sent[attempt].octets[11] != 0;
	const size_t length = t.sent[attempt].length - (edns ? 11 : 0);

	memcpy(octets, t.sent[attempt].octets, length);
	octets[2] |= (uint8_t)(0x80 | flags);
	octets[3] |= code;
	octets[11] = 0;
	engine_reply(t.engine, t.now, attempt, octets, length);
}

/* Without a cache, as for all domains that queue threads ask for. */
static void
begin(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
	start();
}

static void
the_reply_answers(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 8);
	CHECK(attempt != ENGINE_NO_ATTEMPT && t.sends == 0);
	CHECK(t.fate[0] == ASKED && engine_stats(t.engine)->held == 1);
	wait_ms(4);
	reply(attempt, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	CHECK(t.answer[1] == 0 && t.answer[7] == 1);
	CHECK(!t.sent[attempt].open && t.sends == 0);
	/* It took 12 ms; who sent it has counted it. */
	CHECK(engine_upstream(t.engine, 0)->srtt_us == 12000);
	CHECK(engine_upstream(t.engine, 0)->sent == 0 &&
	    engine_upstream(t.engine, 0)->replies == 1);
	CHECK(engine_stats(t.engine)->attempts == 0 &&
	    engine_stats(t.engine)->held == 0);
	finish();
}

/* Else the server would count as slow for its next hundred replies. */
static void
one_sent_since_the_round_began_took_no_time(void)
{
	begin();
	reply(resume(0, 'a', 0, -3), true);
	CHECK(t.fate[0] == ANSWERED);
	CHECK(engine_upstream(t.engine, 0)->srtt_us <= 1000);
	finish();
}

static void
a_failure_asks_the_next_server_at_once(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 1);
	reply_code(attempt, 0, RCODE_SERVFAIL);
	CHECK(t.sends == 1 && t.sent[t.last].port == 2);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

static void
a_cut_reply_leads_to_tcp(void)
{
	begin();
	reply_code(resume(0, 'a', 0, 1), 2, RCODE_NOERROR);
	CHECK(t.sends == 1 && t.sent[t.last].port == 1 &&
	    t.sent[t.last].transport == FORWARD_TCP);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

/* It was asked with an OPT. */
static void
a_server_without_edns_is_asked_without(void)
{
	begin();
	reply_code(resume(0, 'a', 0, 1), 0, RCODE_FORMERR);
	CHECK(t.sends == 1 && t.sent[t.last].port == 1 &&
	    t.sent[t.last].transport == FORWARD_UDP &&
	    t.sent[t.last].octets[11] == 0);
	reply_code(t.last, 0, RCODE_NXDOMAIN);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NXDOMAIN);
	finish();
}

static void
other_replies_are_skipped(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 1);
	for (int n = 0; n < 15; n++)
		reply(attempt, false);
	CHECK(t.sent[attempt].open && t.sends == 0);
	CHECK(engine_stats(t.engine)->mismatched == 15);
	reply(attempt, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

static void
it_is_late_from_when_it_was_sent(void)
{
	uint32_t attempt;

	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.attempts.wait_ms = 300;
	start();
	attempt = resume(0, 'a', 0, 200);
	wait_ms(99);
	CHECK(t.sends == 0);
	wait_ms(1);
	CHECK(t.sends >= 1 && t.sent[attempt].open);
	CHECK(engine_upstream(t.engine, 0)->losses == 1);
	for (uint32_t i = 0; i < SENT; i++)
		if (t.sent[i].open && t.sent[i].port == 2)
			reply(i, true);
	CHECK(t.fate[0] == ANSWERED);
	/* One that waited for too long already. */
	t.sends = 0;
	(void)resume(1, 'b', 1, 400);
	wait_ms(1);
	CHECK(t.sends >= 1 && t.fate[1] == ASKED);
	finish();
}

static void
a_refusal_asks_the_next_server_at_once(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 1);
	engine_error(t.engine, t.now, attempt, ECONNREFUSED);
	CHECK(t.sends == 1 && t.sent[t.last].port == 2);
	CHECK(engine_upstream(t.engine, 0)->errors == 1 &&
	    engine_upstream(t.engine, 0)->losses == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

static void
equal_questions_go_on_together(void)
{
	uint32_t attempt;

	begin();
	ask(0, 'a');
	CHECK(t.sends == 1);
	CHECK(resume(1, 'A', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 1 && t.fate[1] == ASKED);
	CHECK(engine_stats(t.engine)->joined == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED && t.fate[1] == ANSWERED);
	/* The other way round. */
	attempt = resume(2, 'b', 0, 1);
	ask(3, 'b');
	CHECK(t.sends == 1);
	reply(attempt, true);
	CHECK(t.fate[2] == ANSWERED && t.fate[3] == ANSWERED);
	finish();
}

/* Nothing went out for it: no attempt of the engine bears its number. */
static void
a_server_of_another_domain_is_not_gone_on_with(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.domain[0].upstreams = 1;
	start();
	CHECK(resume(0, 'a', 1, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 1 && t.sent[t.last].port == 1);
	reply(t.last, true);
	CHECK(t.fate[0] == ANSWERED);
	CHECK(resume(1, 'b', FORWARD_UPSTREAMS + 5, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 2 && t.sent[t.last].port == 1);
	CHECK(resume(2, 'c', UINT32_MAX, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 3);
	finish();
}

static void
a_server_that_leads_back_is_not_gone_on_with(void)
{
	begin();
	engine_upstream(t.engine, 0)->state = UPSTREAM_LOOPING;
	CHECK(resume(0, 'a', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 1 && t.sent[t.last].port == 2);
	engine_upstream(t.engine, 1)->state = UPSTREAM_LOOPING;
	CHECK(resume(1, 'b', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.sends == 1);
	CHECK(t.fate[1] == ANSWERED && rcode() == RCODE_SERVFAIL);
	finish();
}

/* One that has gone down meanwhile is, and the others follow. */
static void
a_server_that_went_down_may_still_reply(void)
{
	uint32_t attempt;

	begin();
	engine_upstream(t.engine, 0)->state = UPSTREAM_DOWN;
	attempt = resume(0, 'a', 0, 1);
	CHECK(attempt != ENGINE_NO_ATTEMPT && t.sends == 0);
	reply(attempt, true);
	CHECK(t.fate[0] == ANSWERED);
	CHECK(engine_upstream(t.engine, 0)->state == UPSTREAM_UP);
	finish();
}

/* As a question that begins; but a reply shows that its server is up. */
static void
it_fails_fast_if_no_server_is_up(void)
{
	uint32_t attempt;

	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.health.fail_fast = 1;
	start();
	engine_upstream(t.engine, 0)->state = UPSTREAM_DOWN;
	engine_upstream(t.engine, 1)->state = UPSTREAM_DOWN;
	CHECK(resume(0, 'a', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	CHECK(t.sends == 0 && engine_stats(t.engine)->held == 0);
	attempt = resume_with(1, 'b', 0, 1, true);
	CHECK(attempt != ENGINE_NO_ATTEMPT);
	reply_code(attempt, 2, RCODE_NOERROR);
	CHECK(t.sends == 1 && t.sent[t.last].port == 1 &&
	    t.sent[t.last].transport == FORWARD_TCP);
	reply(t.last, true);
	CHECK(t.fate[1] == ANSWERED && rcode() == RCODE_NOERROR);
	/* Now one of them is up. */
	attempt = resume(2, 'c', 1, 1);
	CHECK(attempt != ENGINE_NO_ATTEMPT && t.fate[2] == ASKED);
	reply(attempt, true);
	CHECK(t.fate[2] == ANSWERED && rcode() == RCODE_NOERROR);
	finish();
}

static void
limits_hold(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.limits.domain = 2;
	start();
	CHECK(resume(0, 'a', 0, 1) != ENGINE_NO_ATTEMPT);
	CHECK(resume(1, 'b', 0, 1) != ENGINE_NO_ATTEMPT);
	CHECK(resume(2, 'c', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.fate[2] == ANSWERED && rcode() == RCODE_REFUSED);
	finish();
	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.limits.user = 1;
	start();
	CHECK(resume(0, 'a', 0, 1) != ENGINE_NO_ATTEMPT);
	CHECK(resume(1, 'a', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.fate[1] == ANSWERED && rcode() == RCODE_REFUSED);
	CHECK(t.sends == 0 && engine_stats(t.engine)->held == 1);
	finish();
}

static void
the_budget_counts_from_when_it_was_sent(void)
{
	prepare();
	t.settings.domain[0].cache = 0;
	t.settings.attempts.budget_ms = 1000;
	start();
	(void)resume(0, 'a', 0, 600);
	wait_ms(399);
	CHECK(t.fate[0] == ASKED);
	wait_ms(1);
	CHECK(t.fate[0] == ANSWERED && rcode() == RCODE_SERVFAIL);
	/* Its time is over when it comes. */
	(void)resume(1, 'b', 0, 2000);
	wait_ms(1);
	CHECK(t.fate[1] == ANSWERED && rcode() == RCODE_SERVFAIL);
	finish();
}

static void
reload_goes_on_with_it(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 1);
	t.settings.upstreams = 1;
	t.settings.upstream[0] = t.settings.upstream[1];
	t.settings.domain[0].upstreams = 1;
	engine_reload(t.engine, t.now, &t.settings, t.cache);
	CHECK(t.sent[attempt].open);
	reply(attempt, true);
	CHECK(t.fate[0] == ANSWERED);
	CHECK(engine_upstream(t.engine, 0)->replies == 0);
	finish();
}

static void
a_client_that_goes_is_forgotten(void)
{
	uint32_t attempt;

	begin();
	attempt = resume(0, 'a', 0, 1);
	engine_forget(t.engine, &t.clients[0]);
	reply(attempt, true);
	CHECK(t.fate[0] == ASKED && !t.sent[attempt].open);
	CHECK(engine_stats(t.engine)->questions == 0);
	/* And the end of all, with one open. */
	(void)resume(1, 'b', 0, 1);
	finish();
	CHECK(t.fate[1] == PASSED);
}

/* The cache may have been switched on since, or another thread has filled it. */
static void
what_is_kept_is_not_waited_for(void)
{
	prepare();
	start();
	ask(0, 'a');
	reply(t.last, true);
	CHECK(resume(1, 'a', 0, 1) == ENGINE_NO_ATTEMPT);
	CHECK(t.fate[1] == ANSWERED && t.sends == 1);
	finish();
}

static void
what_is_no_question_passes(void)
{
	const struct engine_begun begun = { .upstream = 0, .id = ID,
		.sent = monotime_from_ms(1) };

	begin();
	t.clients[0] = (struct engine_client){
		.message = (const uint8_t *)"junk", .length = 4 };
	CHECK(engine_resume(t.engine, t.now, &t.clients[0], &begun) ==
	    ENGINE_NO_ATTEMPT);
	CHECK(t.fate[0] == PASSED && t.sends == 0);
	finish();
}

int
main(void)
{
	TEST(the_reply_answers);
	TEST(one_sent_since_the_round_began_took_no_time);
	TEST(a_failure_asks_the_next_server_at_once);
	TEST(a_cut_reply_leads_to_tcp);
	TEST(a_server_without_edns_is_asked_without);
	TEST(other_replies_are_skipped);
	TEST(it_is_late_from_when_it_was_sent);
	TEST(a_refusal_asks_the_next_server_at_once);
	TEST(equal_questions_go_on_together);
	TEST(a_server_of_another_domain_is_not_gone_on_with);
	TEST(a_server_that_leads_back_is_not_gone_on_with);
	TEST(a_server_that_went_down_may_still_reply);
	TEST(it_fails_fast_if_no_server_is_up);
	TEST(limits_hold);
	TEST(the_budget_counts_from_when_it_was_sent);
	TEST(reload_goes_on_with_it);
	TEST(a_client_that_goes_is_forgotten);
	TEST(what_is_kept_is_not_waited_for);
	TEST(what_is_no_question_passes);
	return test_summary();
}
