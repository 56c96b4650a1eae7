/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory runs out while queue threads ask: clients get their answers. */
#include "tests/no_memory.h"

#include "nfq/forward/express_keep.h"
#include "nfq/thread/errands.h"

#include "tests/express.h"

static void
an_answer_that_cannot_be_kept_is_given(void)
{
	struct express_attempt *a;
	struct express_reply r;

	begin();
	settings.domain[0].cache = 1;
	settings.cache.max_ttl_s = 30;
	make_question("a.test", 1);
	asked.caches = true;
	CHECK(ask_of(0) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	reply(&servers[0]);
	a = wait_one();
	no_memory_after(0);
	CHECK(express_receive(x, a, &settings, &r) && r.is_answer);
	express_keep(x, a, &settings, GENERATION, &r);
	CHECK(no_memory_failed);
	CHECK(r.ttl.max == 30);
	check_answer(STAILQ_FIRST(&a->questions), &r, 1);
	express_answered(x, a);
	express_tell(x);
	no_memory_after(-1);
	CHECK(fresh_answers_first(fresh) == NULL && express_is_idle(x));
	end();
}

/* The forwarding thread gets the packet alone, and asks for itself. */
static void
what_cannot_be_handed_over_is_asked_anew(void)
{
	const unsigned int before = open_files();
	struct express_attempt *a;
	struct express_reply r;

	for (int has_reply = 0; has_reply < 2; has_reply++) {
		begin();
		CHECK(ask("a.test", 1) == EXPRESS_HELD);
		(void)hear(&servers[0]);
		servers[0].octets[3] |= RCODE_SERVFAIL;
		if (has_reply)
			reply(&servers[0]);
		a = has_reply ? wait_one() : wait_late();
		no_memory_after(0);
		if (has_reply)
			CHECK(express_receive(x, a, &settings, &r) &&
			    !r.is_answer);
		express_give(x, a, has_reply ? &r : NULL);
		CHECK(no_memory_failed);
		express_end(x, a);
		no_memory_after(-1);
		CHECK(take("a.test", 1) == NULL && express_is_idle(x));
		CHECK(ask("b.test", 2) == EXPRESS_HELD);
		(void)hear(&servers[0]);
		end();
	}
	CHECK(open_files() == before);
}

static void
errands_cannot_be_made(void)
{
	static struct errands errands;
	static struct waiting waiting;

	begin();
	waiting_init(&waiting, 1);
	errands_init(&errands, &waiting);
	errands_run_by(&errands, queue);
	make_question("a.test", 1);
	no_memory_after(0);
	CHECK(errand_new(octets, packet.length, NULL) == NULL);
	CHECK(!errands_lose(&errands, &packet));
	no_memory_after(-1);
	CHECK(errands_next_lost(&errands) == NULL);
	CHECK(errands_next(&errands) == NULL);
	end();
}

int
main(void)
{
	TEST(an_answer_that_cannot_be_kept_is_given);
	TEST(what_cannot_be_handed_over_is_asked_anew);
	TEST(errands_cannot_be_made);
	return test_summary();
}
