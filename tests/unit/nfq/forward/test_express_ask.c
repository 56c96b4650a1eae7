/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which questions a queue thread asks by itself, and the sockets for that. */
#include "tests/express.h"

#define LAST_NAME	"0123456789012345678901234567890123456789."	\
	"0123456789012345678901234567890123456789."			\
	"0123456789012345678901234567890123456789."			\
	"0123456789012345678901234567890123456789.test"

static bool
may_ask(void)
{
	const struct forward_upstream *to = express_upstream(x, &asked);

	CHECK(to == NULL || to == &settings.upstream[0]);
	return to != NULL;
}

static void
only_the_usual_questions_are_asked(void)
{
	static const char plain[] = "\0\0\51\4\320\0\0\0\0\0\0";
	static const char cookie[] =
	    "\0\0\51\4\320\0\0\0\0\0\14\0\12\0\10abcdefgh";
	static const char subnet[] =
	    "\0\0\51\4\320\0\0\0\0\0\10\0\10\0\4\0\1\0\0";
	static const char both[] =
	    "\0\0\51\4\320\0\0\0\0\0\10\0\14\0\0\0\3\0\0";	/* padding, NSID */

	begin();
	make_packet(AF_INET, "a.test", TYPE_A, 1, plain, sizeof(plain) - 1);
	CHECK(may_ask());
	make_packet(AF_INET6, LAST_NAME, TYPE_AAAA, 1, NULL, 0);
	CHECK(may_ask());
	make_packet(AF_INET, "a.test", TYPE_A, 1, cookie, sizeof(cookie) - 1);
	CHECK(may_ask());		/* it is not handed on */
	make_packet(AF_INET, "a.test", TYPE_A, 1, subnet, sizeof(subnet) - 1);
	CHECK(!may_ask());
	make_packet(AF_INET, "a.test", TYPE_A, 1, both, sizeof(both) - 1);
	CHECK(!may_ask());
	make_packet(AF_INET, "a.test", TYPE_TXT, 1, NULL, 0);
	CHECK(!may_ask());
	make_question("a.test", 1);
	packet.length = EXPRESS_OCTETS;
	CHECK(may_ask());
	packet.length = EXPRESS_OCTETS + 1;
	CHECK(!may_ask());
	make_question("a.test", 1);
	in.decision.reason = REASON_CHASE;
	CHECK(!may_ask());
	make_question("a.test", 1);
	in.question.form = QUESTION_CHAOS;
	CHECK(!may_ask());
	make_question("a.test", 1);
	in.form = PACKET_UNTAKEN;
	CHECK(!may_ask());
	end();
}

static void
only_the_first_server_is_asked(void)
{
	begin();
	make_question("a.test", 1);
	asked.generation = GENERATION + 1;
	CHECK(!may_ask());
	asked.generation = GENERATION;
	CHECK(may_ask());
	prefer(1, GENERATION);
	CHECK(express_upstream(x, &asked) == &settings.upstream[1]);
	prefer(-1, GENERATION);
	CHECK(!may_ask());
	prefer(0, GENERATION);
	in.domain = 1;			/* there is none */
	CHECK(!may_ask());
	end();
}

/* As many as the settings say are left to the forwarding thread. */
static void
some_are_left_for_exploring(void)
{
	unsigned int left = 0;

	begin();
	make_question("a.test", 1);
	settings.attempts.explore = 100;
	CHECK(may_ask());		/* not where the order is given */
	settings.domain[0].select = SELECT_FASTEST;
	CHECK(!may_ask());
	settings.attempts.explore = 0;
	CHECK(may_ask());
	settings.attempts.explore = 50;
	for (int n = 0; n < 1000; n++)
		left += !may_ask();
	CHECK(left > 300 && left < 700);
	settings.attempts.explore = 100;
	settings.domain[0].upstreams = 1;
	CHECK(may_ask());		/* nor where there is one */
	end();
}

static void
allow_files(void)
{
	struct rlimit files;

	MUST(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max;
	MUST(setrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur > FILES);
}

static void
there_is_an_end_to_their_number(void)
{
	const unsigned int before = open_files();
	struct express_attempt *a;
	char name[16];

	begin();
	for (uint16_t n = 0; n < EXPRESS_QUESTIONS; n++) {
		(void)snprintf(name, sizeof(name), "n%d.test", n);
		CHECK(ask(name, n) == EXPRESS_HELD);
	}
	CHECK(ask("one-more.test", 1) == EXPRESS_NOT);
	CHECK(ask("n5.test", 1) == EXPRESS_NOT);
	CHECK(held == EXPRESS_QUESTIONS);
	CHECK(upstreams.upstream[0].sent == EXPRESS_QUESTIONS);
	a = express_first(x);
	express_give(x, a, NULL);
	express_end(x, a);
	CHECK(ask("n5.test", 1) == EXPRESS_JOINED);
	CHECK(ask("one-more.test", 1) == EXPRESS_NOT);
	while ((a = express_first(x)) != NULL) {
		express_give(x, a, NULL);
		express_end(x, a);
	}
	CHECK(express_is_idle(x) && board->begun_count == EXPRESS_QUESTIONS);
	CHECK(ask("one-more.test", 1) == EXPRESS_HELD);
	end();
	CHECK(open_files() == before);
}

/* The others of the queue's places are for packets that wait for nobody. */
static void
no_more_are_held_than_may_be(void)
{
	struct express_attempt *a;

	most = 3;
	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	CHECK(ask("a.test", 2) == EXPRESS_JOINED);
	CHECK(ask("b.test", 3) == EXPRESS_HELD);
	CHECK(ask("a.test", 4) == EXPRESS_NOT);
	CHECK(ask("c.test", 5) == EXPRESS_NOT);
	a = express_first(x);
	express_give(x, a, NULL);
	express_end(x, a);
	CHECK(ask("c.test", 5) == EXPRESS_HELD);
	CHECK(ask("b.test", 6) == EXPRESS_JOINED);
	CHECK(ask("b.test", 7) == EXPRESS_NOT);
	CHECK(held == 3);
	end();
	most = 2 * EXPRESS_QUESTIONS;
}

/* A mesh name that comes behind them is answered before they are asked. */
static void
they_wait_for_their_turn(void)
{
	struct express_attempt *ready[EXPRESS_BATCH], *first;
	bool queued;

	begin();
	make_question("a.test", 1);
	CHECK(hold_for(0) == EXPRESS_HELD);
	make_question("b.test", 2);
	CHECK(hold_for(0) == EXPRESS_HELD);
	make_question("a.test", 3);
	CHECK(hold_for(0) == EXPRESS_JOINED && !express_is_idle(x));
	CHECK(hears_nothing(&servers[0]) && upstreams.upstream[0].sent == 0);
	/* Nothing is waited for as long as there is something to be sent. */
	CHECK(express_wait(x, &queued, ready) == 0 && !queued);
	CHECK(express_late(x) == NULL);
	first = express_next(x);
	CHECK(express_first(x) == first);
	CHECK(STAILQ_FIRST(&first->questions)->held.id == 1);
	CHECK(express_send(x, first, &settings, GENERATION) == 0);
	(void)hear(&servers[0]);
	CHECK(servers[0].octets[DNS_HEADER + 1] == 'a');
	CHECK(hears_nothing(&servers[0]) && express_next(x) != first);
	reply(&servers[0]);
	CHECK(wait_one() == first);
	end();
}

/* While they waited it became silent, or another is better. */
static void
nobody_is_asked_who_is_silent_by_then(void)
{
	struct express_attempt *a;

	begin();
	make_question("a.test", 1);
	CHECK(hold_for(0) == EXPRESS_HELD);
	make_question("b.test", 2);
	CHECK(hold_for(0) == EXPRESS_HELD);
	prefer(1, GENERATION);
	a = express_next(x);
	CHECK(express_send(x, a, &settings, GENERATION) == -ESTALE);
	express_end(x, a);
	prefer(-1, GENERATION);
	a = express_next(x);
	CHECK(express_send(x, a, &settings, GENERATION) == -ESTALE);
	express_end(x, a);
	CHECK(hears_nothing(&servers[0]) && upstreams.upstream[0].sent == 0);
	end();
}

/* Its upstream may be another one in the new settings. */
static void
nobody_is_asked_by_settings_of_before(void)
{
	struct express_attempt *a;

	begin();
	make_question("a.test", 1);
	CHECK(hold_for(0) == EXPRESS_HELD);
	a = express_next(x);
	CHECK(express_send(x, a, &settings, GENERATION + 1) == -ESTALE);
	express_end(x, a);
	CHECK(express_is_idle(x) && express_next(x) == NULL);
	CHECK(hears_nothing(&servers[0]) && board->begun_count == 0);
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	end();
}

static void
answer_one(unsigned int upstream)
{
	struct express_attempt *a;
	struct express_reply r;

	make_question("a.test", 1);
	CHECK(ask_of(upstream) == EXPRESS_HELD);
	(void)hear(&servers[upstream]);
	reply(&servers[upstream]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	express_answered(x, a);
}

static void
idle_sockets_are_closed_in_time(void)
{
	const monotime_t now = monotime_from_ms(1000000);
	unsigned int files;

	begin();
	files = open_files();
	express_age(x, now);
	CHECK(ask("b.test", 2) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	answer_one(0);
	CHECK(open_files() == files + 2);
	express_age(x, monotime_add_ms(now, 9999));
	CHECK(open_files() == files + 2);
	express_age(x, monotime_add_ms(now, 10000));
	CHECK(open_files() == files + 1);	/* that of b.test */
	answer_one(0);
	CHECK(open_files() == files + 2);
	end();
}

static void
both_families_in_turn(void)
{
	unsigned int files;

	begin();
	answer_one(0);
	files = open_files();
	for (unsigned int n = 1; n < 7; n++)
		answer_one(n % 2);
	CHECK(open_files() == files + 1);	/* one for each */
	CHECK(upstreams.upstream[0].replies == 4 &&
	    upstreams.upstream[1].replies == 3);
	end();
}

/* a.test is answered; a second reply has come.  Where that was sent to. */
static struct server
answer_twice(void)
{
	struct express_attempt *a;
	struct express_reply r;
	struct server late;

	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	late = servers[0];
	reply(&late);
	reply(&late);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	express_answered(x, a);
	return late;
}

/* b.test gets its reply alone, though another is sent to the port of before. */
static void
answer_behind(struct server *late)
{
	struct express_attempt *a;
	struct express_reply r;

	CHECK(ask("b.test", 2) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	reply(late);
	reply(&servers[0]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	CHECK(!express_receive(x, a, &settings, &r));
	express_answered(x, a);
}

static void
stragglers_are_nobodys_replies(void)
{
	struct server late;

	begin();
	for (unsigned int n = 0; n < 8; n++) {
		late = answer_twice();
		answer_behind(&late);
	}
	end();
}

/* The same while another question is under way: their socket is not the next one's. */
static void
stragglers_are_found_beside_others(void)
{
	struct express_attempt *ready[EXPRESS_BATCH];
	struct server late;
	bool queued;

	begin();
	for (unsigned int n = 0; n < 8; n++) {
		CHECK(ask("other.test", 9) != EXPRESS_NOT);
		(void)(n == 0 && hear(&servers[0]));
		late = answer_twice();
		if (n % 2 == 0)
			CHECK(express_wait(x, &queued, ready) == 0);
		answer_behind(&late);
	}
	end();
}

/* However many questions wait, only as many sockets are open as are asked at a time. */
static void
the_last_used_socket_is_used_next(void)
{
	unsigned int files;
	char name[16];

	begin();
	files = open_files();
	for (uint16_t n = 0; n < ROUNDS; n++) {
		(void)snprintf(name, sizeof(name), "n%d.test", n);
		make_question(name, n);
		CHECK(hold_for(0) == EXPRESS_HELD);
	}
	for (uint16_t n = 0; n < ROUNDS; n++) {
		struct express_attempt *a = express_next(x);
		struct express_reply r;

		CHECK(express_send(x, a, &settings, GENERATION) == 0);
		(void)hear(&servers[0]);
		reply(&servers[0]);
		CHECK(wait_one() == a);
		CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
		express_answered(x, a);
	}
	CHECK(express_is_idle(x) && open_files() <= files + 2);
	end();
}

static void
the_queue_is_waited_for_besides(void)
{
	const uint64_t one = 1;
	struct express_attempt *ready[EXPRESS_BATCH];
	bool queued = false;

	begin();
	CHECK(ask("a.test", 1) == EXPRESS_HELD);
	MUST(write(queue, &one, sizeof(one)) == sizeof(one));
	CHECK(express_wait(x, &queued, ready) == 0 && queued);
	CHECK(express_late(x) == NULL || !express_is_idle(x));
	(void)hear(&servers[0]);
	reply(&servers[0]);
	CHECK(wait_ready(ready) == 1);
	CHECK(express_wait(x, &queued, ready) == 1 && queued);
	end();
}

/* The thread ends in the middle of it all. */
static void
the_end_closes_all(void)
{
	const unsigned int before = open_files();

	begin();
	answer_one(0);
	CHECK(ask("b.test", 2) == EXPRESS_HELD);
	CHECK(ask("c.test", 3) == EXPRESS_HELD);
	CHECK(ask("c.test", 4) == EXPRESS_JOINED);
	end();
	CHECK(open_files() == before);
	express_free(NULL);
}

/* A queue that cannot be waited for. */
static void
a_beginning_that_fails_leaves_nothing(void)
{
	const unsigned int before = open_files();
	struct express_options options = { .queue = -1, .held = &held };

	options.board = express_board_new();
	MUST(options.board != NULL);
	CHECK(express_new(&x, &options) == -EBADF && x == NULL);
	express_board_free(options.board);
	CHECK(open_files() == before);
}

int
main(void)
{
	allow_files();
	TEST(only_the_usual_questions_are_asked);
	TEST(only_the_first_server_is_asked);
	TEST(some_are_left_for_exploring);
	TEST(there_is_an_end_to_their_number);
	TEST(no_more_are_held_than_may_be);
	TEST(they_wait_for_their_turn);
	TEST(nobody_is_asked_who_is_silent_by_then);
	TEST(nobody_is_asked_by_settings_of_before);
	TEST(idle_sockets_are_closed_in_time);
	TEST(both_families_in_turn);
	TEST(stragglers_are_nobodys_replies);
	TEST(stragglers_are_found_beside_others);
	TEST(the_last_used_socket_is_used_next);
	TEST(the_queue_is_waited_for_besides);
	TEST(the_end_closes_all);
	TEST(a_beginning_that_fails_leaves_nothing);
	return test_summary();
}
