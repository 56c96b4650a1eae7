/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errands between two threads: who has them when one of the two is not there. */
#include "nfq/thread/errands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/check.h"

/* Without it there is nothing to test. */
#define MUST(condition) do { \
	if (!(condition)) \
		abort(); \
} while (0)

static struct errands errands;
static int runner, sender;

static void
begin(void)
{
	errands_init(&errands);
	runner = eventfd(0, EFD_NONBLOCK);
	sender = eventfd(0, EFD_NONBLOCK);
	MUST(runner >= 0 && sender >= 0);
	errands_sent_by(&errands, sender);
	errands_run_by(&errands, runner);
}

static void
end(void)
{
	(void)close(runner);
	(void)close(sender);
}

static bool
is_woken(int fd)
{
	uint64_t times;

	return read(fd, &times, sizeof(times)) == (ssize_t)sizeof(times);
}

static struct errand *
new(const char *text)
{
	struct errand *errand = errand_new((const uint8_t *)text,
	    strlen(text));

	MUST(errand != NULL);
	return errand;
}

static void
they_go_and_come_back_in_order(void)
{
	struct errand *a, *b;

	begin();
	a = new("a");
	b = new("b");
	CHECK(errands_can_be_run(&errands));
	CHECK(errands_send(&errands, a) && errands_send(&errands, b));
	CHECK(is_woken(runner) && !is_woken(sender));
	CHECK(errands_next(&errands) == a && errands_next(&errands) == b);
	CHECK(errands_next(&errands) == NULL);
	CHECK(errands_back(&errands) == NULL);
	b->end = ERRAND_PASSED;
	errands_return(&errands, b);
	errands_return(&errands, a);
	CHECK(is_woken(sender));
	CHECK(errands_back(&errands) == b && b->end == ERRAND_PASSED);
	CHECK(errands_back(&errands) == a && a->end == ERRAND_FAILED);
	CHECK(errands_back(&errands) == NULL);
	CHECK(b->length == 1 && b->octets[0] == 'b');
	errand_free(a);
	errand_free(b);
	end();
}

static void
without_a_runner_the_sender_keeps_them(void)
{
	struct errand *errand = new("a");

	begin();
	CHECK(errands_send(&errands, errand));
	errands_runner_leaves(&errands);
	CHECK(!errands_can_be_run(&errands) && is_woken(sender));
	CHECK(errands_back(&errands) == errand && errand->end == ERRAND_FAILED);
	CHECK(!errands_send(&errands, errand));
	errand_free(errand);
	end();
}

/* The sanitizer counts what is left behind. */
static void
without_a_sender_they_are_freed(void)
{
	struct errand *taken;

	begin();
	CHECK(errands_send(&errands, new("taken")));
	CHECK(errands_send(&errands, new("waits")));
	CHECK(errands_send(&errands, new("back")));
	taken = errands_next(&errands);
	errands_return(&errands, errands_next(&errands));
	(void)is_woken(sender);
	errands_sender_leaves(&errands);
	CHECK(errands_next(&errands) == NULL && errands_back(&errands) == NULL);
	taken->answer = malloc(1);
	errands_return(&errands, taken);
	CHECK(errands_back(&errands) == NULL && !is_woken(sender));
	errands_runner_leaves(&errands);
	end();
}

static void
there_is_an_end_to_their_number(void)
{
	struct errand *last = new("last"), *errand;

	begin();
	for (unsigned int n = 0; n < ERRANDS_MAX; n++)
		CHECK(errands_send(&errands, new("n")));
	CHECK(!errands_send(&errands, last));
	errand_free(errands_next(&errands));
	CHECK(errands_send(&errands, last));
	while ((errand = errands_next(&errands)) != NULL)
		errand_free(errand);
	end();
}

static void
lost_questions_go_one_way(void)
{
	const uint8_t octets[] = "packet";
	const struct queue_packet packet = { .id = 7, .uid = 5,
		.octets = octets, .length = sizeof(octets) };
	struct lost_question *lost;

	begin();
	CHECK(errands_lose(&errands, &packet) && is_woken(runner));
	CHECK(errands_lose(&errands, &packet));
	lost = errands_next_lost(&errands);
	MUST(lost != NULL);
	CHECK(lost->packet.id == 7 && lost->packet.uid == 5);
	CHECK(lost->packet.octets == lost->octets &&
	    lost->packet.length == sizeof(octets) &&
	    memcmp(lost->octets, octets, sizeof(octets)) == 0);
	free(lost);
	errands_runner_leaves(&errands);	/* the other one is freed */
	CHECK(errands_next_lost(&errands) == NULL);
	CHECK(!errands_lose(&errands, &packet));
	end();
}

int
main(void)
{
	TEST(they_go_and_come_back_in_order);
	TEST(without_a_runner_the_sender_keeps_them);
	TEST(without_a_sender_they_are_freed);
	TEST(there_is_an_end_to_their_number);
	TEST(lost_questions_go_one_way);
	return test_summary();
}
