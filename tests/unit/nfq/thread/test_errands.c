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

#define FLOODER	4242
#define OTHER	4243

static struct errands errands;
static struct waiting waiting;
static int runner, sender;

static void
begin(void)
{
	waiting_init(&waiting, 7);
	errands_init(&errands, &waiting);
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

/* What came back next, as it is taken alone. */
static struct errand *
back(void)
{
	static struct errand_list list = STAILQ_HEAD_INITIALIZER(list);
	struct errand *errand;

	if (STAILQ_EMPTY(&list))
		errands_back(&errands, &list);
	errand = STAILQ_FIRST(&list);
	if (errand != NULL)
		STAILQ_REMOVE_HEAD(&list, link);
	return errand;
}

/* Whether exactly so many of a user's wait, where nobody else's do. */
static bool
counts(uid_t uid, uint32_t wanted)
{
	return !waiting_is_full(&waiting, uid, wanted + 1, wanted + 1) &&
	    waiting_is_full(&waiting, uid, wanted, 1000);
}

static struct errand *
new(const char *text)
{
	struct errand *errand = errand_new((const uint8_t *)text,
	    strlen(text), NULL);

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
	CHECK(errands_send(&errands, a) && errands_send(&errands, b));
	CHECK(is_woken(runner) && !is_woken(sender));
	CHECK(errands_next(&errands) == a && errands_next(&errands) == b);
	CHECK(errands_next(&errands) == NULL);
	CHECK(back() == NULL);
	b->end = ERRAND_PASSED;
	errands_return(&errands, b);
	errands_return(&errands, a);
	CHECK(is_woken(sender));
	CHECK(back() == b && b->end == ERRAND_PASSED);
	CHECK(back() == a && a->end == ERRAND_FAILED);
	CHECK(back() == NULL);
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
	CHECK(is_woken(sender));
	CHECK(counts(0, 1));
	CHECK(back() == errand && errand->end == ERRAND_FAILED);
	CHECK(!errands_send(&errands, errand) && counts(0, 0));
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
	CHECK(errands_next(&errands) == NULL && back() == NULL);
	CHECK(counts(0, 1));
	taken->answer = malloc(1);
	errands_return(&errands, taken);
	CHECK(back() == NULL && !is_woken(sender) && counts(0, 0));
	errands_runner_leaves(&errands);
	end();
}

static struct errand *
send_of(uid_t uid, const char *text)
{
	struct errand *errand = new(text);

	errand->uid = uid;
	CHECK(errands_send(&errands, errand));
	return errand;
}

static void
users_take_turns(void)
{
	struct errand *his[100], *others[2];

	begin();
	MUST(waiting_place(&waiting, FLOODER) % ERRAND_TURNS !=
	    waiting_place(&waiting, OTHER) % ERRAND_TURNS);
	for (size_t n = 0; n < 100; n++)
		his[n] = send_of(FLOODER, "flood");
	others[0] = send_of(OTHER, "other");
	others[1] = send_of(OTHER, "other");
	CHECK(errands_next(&errands) == his[0]);
	CHECK(errands_next(&errands) == others[0]);
	CHECK(errands_next(&errands) == his[1]);
	CHECK(errands_next(&errands) == others[1]);
	for (size_t n = 2; n < 100; n++)
		CHECK(errands_next(&errands) == his[n]);
	CHECK(errands_next(&errands) == NULL);
	for (size_t n = 0; n < 100; n++)
		errand_free(his[n]);
	errand_free(others[0]);
	errand_free(others[1]);
	end();
}

/* Also while the runner has it, and while nobody waits for it. */
static void
each_counts_until_it_is_back(void)
{
	struct errand *errand;

	begin();
	for (uint32_t n = 0; n < 10; n++) {
		CHECK(counts(FLOODER, n));
		send_of(FLOODER, "flood")->of = NULL;
	}
	while ((errand = errands_next(&errands)) != NULL) {
		CHECK(counts(FLOODER, 10));
		errands_return(&errands, errand);
	}
	CHECK(counts(FLOODER, 10) && !waiting_is_full(&waiting, OTHER, 1, 11));
	while ((errand = back()) != NULL)
		errand_free(errand);
	CHECK(counts(FLOODER, 0));
	end();
}

/* Sixteen of the longest are as much memory as a thousand others. */
static void
a_long_one_counts_as_several(void)
{
	static const uint8_t octets[UINT16_MAX];
	struct errand *errand = errand_new(octets, sizeof(octets), NULL);

	begin();
	MUST(errand != NULL);
	CHECK(errands_send(&errands, errand));
	CHECK(counts(0, 1 + sizeof(octets) / ERRAND_OCTETS));
	errands_runner_leaves(&errands);
	errand_free(back());
	CHECK(counts(0, 0));
	end();
}

int
main(void)
{
	TEST(they_go_and_come_back_in_order);
	TEST(without_a_runner_the_sender_keeps_them);
	TEST(without_a_sender_they_are_freed);
	TEST(users_take_turns);
	TEST(each_counts_until_it_is_back);
	TEST(a_long_one_counts_as_several);
	return test_summary();
}
