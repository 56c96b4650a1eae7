/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory runs out while queue threads ask: clients get their answers. */
#include "tests/no_memory.h"

#include "nfq/thread/errands.h"

#include "tests/express.h"

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
	no_memory_after(-1);
	CHECK(errands_next(&errands) == NULL);
	end();
}

int
main(void)
{
	TEST(what_cannot_be_handed_over_is_asked_anew);
	TEST(errands_cannot_be_made);
	return test_summary();
}
