/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source ports of questions that a queue thread asks, while few and while many are
 * under way.  A port that serves several does so for some milliseconds, which a busy
 * machine may take from the test: then it looks again.
 */
#include "tests/express.h"

#define MANY		32	/* questions, under way */
#define COUNT		200	/* at once */
#define PORT_QUESTIONS	64
#define TURNS		100	/* at most, until the machine had the time */

static uint16_t ports[COUNT];

static void
hold_some(unsigned int count)
{
	char name[16];

	for (unsigned int n = 0; n < count; n++) {
		(void)snprintf(name, sizeof(name), "n%u.test", n);
		make_question(name, (uint16_t)n);
		CHECK(hold_for(0) == EXPRESS_HELD);
	}
}

/* However slow the machine was before. */
static uint16_t
send_next(void)
{
	prefer(0, GENERATION);
	CHECK(express_send(x, express_next(x), &settings, GENERATION) == 0);
	return hear(&servers[0]);
}

static void
receive(void)
{
	struct express_attempt *a = wait_one();
	struct express_reply r;

	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	express_answered(x, a);
}

/* Holds them, and asks them one by one.  The ports that they came from. */
static void
ask_many(unsigned int count)
{
	hold_some(count);
	for (unsigned int n = 0; n < count; n++) {
		ports[n] = send_next();
		reply(&servers[0]);
		receive();
	}
	CHECK(express_is_idle(x));
}

/* Those from..to: how many came from the port of the one before. */
static unsigned int
count_repeated(unsigned int from, unsigned int to)
{
	unsigned int repeated = 0;

	for (unsigned int n = from + 1; n < to; n++)
		repeated += ports[n] == ports[n - 1];
	return repeated;
}

static unsigned int
longest_run(void)
{
	unsigned int run = 1, longest = 1;

	for (unsigned int n = 1; n < COUNT; n++) {
		run = ports[n] == ports[n - 1] ? run + 1 : 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* One of 28,000 may be drawn twice. */
static void
few_have_ports_of_their_own(void)
{
	begin();
	ask_many(MANY - 1);
	CHECK(count_repeated(0, MANY - 1) < 3);
	end();
}

static void
of_many_a_port_serves_several_until_few_are_left(void)
{
	bool full = false;

	begin();
	for (unsigned int turn = 0; turn < TURNS && !full; turn++) {
		ask_many(COUNT);
		CHECK(longest_run() <= PORT_QUESTIONS);
		CHECK(count_repeated(COUNT - MANY + 1, COUNT) < 3);
		full = longest_run() == PORT_QUESTIONS;
	}
	CHECK(full);
	end();
}

/* Those that are under way have different ports. */
static void
a_port_has_one_question_at_a_time(void)
{
	struct express_attempt *ready[EXPRESS_BATCH];
	struct server at[8];

	begin();
	hold_some(COUNT);
	for (unsigned int turn = 0; turn < COUNT / 8; turn++) {
		struct express_reply r;
		size_t left = 8;

		for (unsigned int n = 0; n < 8; n++) {
			ports[n] = send_next();
			at[n] = servers[0];
			for (unsigned int k = 0; k < n; k++)
				CHECK(ports[k] != ports[n]);
		}
		for (unsigned int n = 0; n < 8; n++)
			reply(&at[n]);
		while (left > 0) {
			const size_t count = wait_ready(ready);

			for (size_t n = 0; n < count; n++) {
				CHECK(express_receive(x, ready[n], &settings, &r) &&
				    r.is_answer);
				express_answered(x, ready[n]);
			}
			left -= count;
		}
	}
	end();
}

/* Sockets of any kind that have a port. */
static unsigned int
count_ports(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < FILES; fd++) {
		union sockets_address here = { .any.sa_family = AF_UNSPEC };
		socklen_t size = sizeof(here);

		count += getsockname(fd, &here.any, &size) == 0 &&
		    here.any.sa_family == AF_INET && here.v4.sin_port != 0;
	}
	return count;
}

/* The last replies come when nothing is left to be asked. */
static void
behind_the_last_question_no_port_is_kept(void)
{
	struct server at[COUNT];
	unsigned int before;

	begin();
	before = count_ports();
	hold_some(COUNT);
	for (unsigned int n = 0; n < COUNT; n++) {
		(void)send_next();
		at[n] = servers[0];
	}
	for (unsigned int n = 0; n < COUNT; n++) {
		reply(&at[n]);
		receive();
		if (n == COUNT - MANY)
			CHECK(count_ports() == before + MANY - 1);
	}
	CHECK(express_is_idle(x) && count_ports() == before);
	end();
}

/* Whatever comes to a port that nobody asks from, it asks no more. */
static void
a_port_that_something_came_to_serves_no_more(void)
{
	const monotime_t until = monotime_add_ms(monotime_now(), WAIT_MS);
	struct express_attempt *ready[EXPRESS_BATCH];
	unsigned int files;
	bool queued;

	begin();
	hold_some(COUNT);
	for (unsigned int n = 0; n < COUNT - MANY; n++) {
		const uint16_t port = send_next();

		files = open_files();
		CHECK(n == 0 || port != ports[n - 1]);
		ports[n] = port;
		reply(&servers[0]);
		receive();
		send_back(&servers[0], (const uint8_t *)"x", 1);
		/* A busy kernel delivers it later. */
		do
			CHECK(express_wait(x, &queued, ready) == 0);
		while (open_files() == files &&
		    !monotime_is_past(monotime_now(), until));
		CHECK(open_files() == files - 1);
	}
	end();
}

/* What was guessed for a port is no answer, and ends it. */
static void
a_guess_ends_its_port(void)
{
	uint8_t message[600];

	begin();
	hold_some(COUNT);
	for (unsigned int n = 0; n < COUNT - MANY; n++) {
		const uint16_t port = send_next();
		const size_t length = reply_of(&servers[0], message);
		struct express_attempt *a;
		struct express_reply r;

		CHECK(n == 0 || port != ports[n - 1]);
		ports[n] = port;
		message[1] ^= 1;
		send_back(&servers[0], message, length);
		a = wait_one();
		CHECK(express_receive(x, a, &settings, &r) && !r.is_answer);
		express_give(x, a, &r);
		express_end(x, a);
		/* Each port would be one guess more (issue 23, item 9). */
		CHECK(express_send(x, express_next(x), &settings,
		    GENERATION) == -ESTALE);
		trust_again();
	}
	end();
}

/* What comes before the next question, and is not seen before, is no answer to it. */
static void
a_guess_before_the_question_is_no_answer(void)
{
	unsigned int guessed = 0;
	uint8_t message[600];

	begin();
	hold_some(COUNT);
	for (unsigned int n = 0; n < (COUNT - MANY) / 2; n++) {
		struct express_attempt *a;
		struct express_reply r;
		const uint16_t port = send_next();
		const size_t length = reply_of(&servers[0], message);

		reply(&servers[0]);
		receive();
		send_back(&servers[0], message, length);
		if (send_next() != port)
			reply(&servers[0]);
		else
			guessed++;
		a = wait_one();
		CHECK(express_receive(x, a, &settings, &r));
		if (r.is_answer) {
			express_answered(x, a);
			continue;
		}
		express_give(x, a, &r);
		express_end(x, a);
		trust_again();
	}
	CHECK(guessed > 0 && board->begun_count == guessed);
	end();
}

int
main(void)
{
	TEST(few_have_ports_of_their_own);
	TEST(of_many_a_port_serves_several_until_few_are_left);
	TEST(a_port_has_one_question_at_a_time);
	TEST(behind_the_last_question_no_port_is_kept);
	TEST(a_port_that_something_came_to_serves_no_more);
	TEST(a_guess_ends_its_port);
	TEST(a_guess_before_the_question_is_no_answer);
	return test_summary();
}
