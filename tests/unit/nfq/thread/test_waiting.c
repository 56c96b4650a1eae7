/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has how many questions waiting. */
#include "tests/check.h"

#include "nfq/thread/waiting.h"

#define FLOODER	4242
#define OTHER	4243

static struct waiting w;

static void
one_user_is_full_and_others_are_not(void)
{
	waiting_init(&w, 7);
	for (int i = 0; i < 10; i++) {
		CHECK(!waiting_is_full(&w, FLOODER, 10, 100));
		waiting_add(&w, FLOODER);
	}
	CHECK(waiting_all(&w) == 10);
	CHECK(waiting_is_full(&w, FLOODER, 10, 100));
	CHECK(!waiting_is_full(&w, OTHER, 10, 100));
	waiting_end(&w, FLOODER);
	CHECK(!waiting_is_full(&w, FLOODER, 10, 100));
}

static void
all_together_are_full(void)
{
	waiting_init(&w, 7);
	for (uid_t uid = 0; uid < 100; uid++)
		waiting_add(&w, uid);
	CHECK(waiting_is_full(&w, OTHER, 10, 100));
	waiting_end(&w, 0);
	CHECK(!waiting_is_full(&w, OTHER, 10, 100));
}

/* What a worker before this one had handed over ends, but was not counted. */
static void
below_nothing_is_not_full(void)
{
	waiting_init(&w, 7);
	for (int i = 0; i < 10; i++)
		waiting_end(&w, FLOODER);
	CHECK(!waiting_is_full(&w, FLOODER, 1, 1));
	waiting_clear(&w);
	CHECK(waiting_all(&w) == 0);
	waiting_add(&w, FLOODER);
	CHECK(waiting_is_full(&w, FLOODER, 1, 1));
}

/* Those of TCP clients, which are not lost, are of the same share. */
static void
errands_count_with_packets(void)
{
	waiting_init(&w, 7);
	waiting_errands(&w, FLOODER, 6);
	for (int i = 0; i < 4; i++) {
		CHECK(!waiting_is_full(&w, FLOODER, 10, 100));
		waiting_add(&w, FLOODER);
	}
	CHECK(waiting_is_full(&w, FLOODER, 10, 100));
	CHECK(waiting_is_full(&w, OTHER, 100, 10));
	CHECK(!waiting_is_full(&w, OTHER, 10, 11));
	CHECK(waiting_all(&w) == 4);
	waiting_clear(&w);
	CHECK(waiting_all(&w) == 0);
	CHECK(waiting_is_full(&w, FLOODER, 6, 100));
	/* Packets of a worker before this one make no room for more. */
	waiting_end(&w, FLOODER);
	CHECK(waiting_is_full(&w, FLOODER, 6, 100));
	waiting_errands(&w, FLOODER, -6);
	CHECK(!waiting_is_full(&w, FLOODER, 1, 1));
}

int
main(void)
{
	TEST(one_user_is_full_and_others_are_not);
	TEST(all_together_are_full);
	TEST(below_nothing_is_not_full);
	TEST(errands_count_with_packets);
	return test_summary();
}
