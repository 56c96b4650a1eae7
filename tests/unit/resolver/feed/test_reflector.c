/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reflector whose requests are refused or fail, and when it asks again. */
#include "tests/unit/resolver/feed/reflector_server.h"

TEST(too_many_requests)
{
	struct reflector_end end = { .whole = true, .why = "",
	    .retry_after = 7 };

	watch_from_10();
	now = monotime_add_ms(now, 5000);
	end_whole();
	(void)ask();
	reflector_head(&r, now, 429);
	cause = reflector_end(&r, now, 0, &end);
	CHECK(cause == FEED_CAUSE_STATUS);
	CHECK(monotime_ms_since(reflector_deadline(&r), now) == 7000);
	CHECK(asks("&resourceVersion=10&"));
	/* Not for ever, whatever the server says. */
	reflector_head(&r, now, 429);
	end.retry_after = 4000000;
	cause = reflector_end(&r, now, 0, &end);
	CHECK(monotime_ms_since(reflector_deadline(&r), now) == 300000);
	/* And not only in the header. */
	(void)ask();
	answer(503, "{\"code\":503,\"details\":{\"retryAfterSeconds\":9}}");
	CHECK(monotime_ms_since(reflector_deadline(&r), now) == 9000);
}

TEST(unauthorized)
{
	begin("services");
	(void)ask();
	refuse(401, "Unauthorized");
	CHECK(cause == FEED_CAUSE_STATUS && reflector_is_due(&r, now));
	CHECK(asks("limit=500&resourceVersion=0"));
	refuse(401, "Unauthorized");
	CHECK(!reflector_is_due(&r, now) && !reflector_is_settled(&r));
	CHECK(strstr(r.error, "HTTP 401: why") != NULL);
}

TEST(forbidden_kind)
{
	begin("serviceentries");
	(void)ask();
	refuse(403, "Forbidden");
	CHECK(r.failing && !reflector_is_settled(&r));
	(void)ask();
	refuse(403, "Forbidden");
	CHECK(reflector_is_settled(&r));
	CHECK(monotime_ms_since(reflector_deadline(&r), now) >= 15000);
	(void)ask();
	answer(200, LIST("10"));
	CHECK(!r.failing && r.error[0] == '\0' && r.mirror.synced);
	begin("services");
	for (int i = 0; i < 3; i++) {
		(void)ask();
		refuse(403, "Forbidden");
	}
	CHECK(!reflector_is_settled(&r));
}

TEST(absent_kind)
{
	begin("serviceentries");
	(void)ask();
	refuse(404, "NotFound");
	CHECK(reflector_is_settled(&r) && !r.failing && cause == FEED_CAUSES);
	CHECK(monotime_ms_since(reflector_deadline(&r), now) >=
	    REFLECTOR_ABSENT);
	CHECK(asks("limit=500&resourceVersion=0"));
	begin("services");
	(void)ask();
	refuse(404, "NotFound");
	CHECK(r.failing && !reflector_is_settled(&r));
}

/* One that was there: once may be a server that has only just started. */
TEST(kind_that_goes)
{
	begin("serviceentries");
	(void)ask();
	answer(200, LIST("10"));
	(void)ask();
	refuse(404, "NotFound");
	CHECK(r.failing && r.mirror.store.count == 1);
	r.mirror.changed = false;
	(void)ask();
	refuse(404, "NotFound");
	CHECK(!r.failing && r.mirror.store.count == 0 && r.mirror.changed);
	CHECK(reflector_is_settled(&r));
}

TEST(back_off)
{
	const struct reflector_end lost = { .cause = FEED_CAUSE_CONNECT,
	    .why = "no" };
	int64_t least = INT64_MAX, most = 0, sum = 0;

	begin("services");
	for (int i = 0; i < 100; i++) {
		int64_t delay;

		(void)ask();
		(void)reflector_end(&r, now, (uint64_t)i * 7919 % 30000, &lost);
		delay = monotime_ms_since(reflector_deadline(&r), now);
		least = delay < least ? delay : least;
		most = delay > most ? delay : most;
		sum += delay;
	}
	CHECK(least >= 0 && most <= BACKOFF_MOST_MS && sum > 500000);
	/* Two calm minutes, and it begins anew. */
	(void)ask();
	now = monotime_add_ms(now, 130000);
	(void)reflector_end(&r, now, BACKOFF_MOST_MS, &lost);
	CHECK(monotime_ms_since(reflector_deadline(&r), now) <=
	    BACKOFF_FIRST_MS);
}

/* A proxy's page is shown, harmless. */
TEST(words_of_strangers)
{
	begin("services");
	(void)ask();
	answer(502, "<html>\x1b[31m\n</html>");
	CHECK(r.failing && strchr(r.error, '\x1b') == NULL &&
	    strchr(r.error, '\n') == NULL);
	CHECK(strstr(r.error, "HTTP 502: <html>") != NULL);
	(void)ask();
	answer(500, "");
	CHECK(strstr(r.error, "without a reason") != NULL);
}

/* What servers may answer to anything, out of turn too. */
static void
out_of_turn(unsigned int which)
{
	static const char *const bodies[] = { LIST("12"), PAGE("x"), GONE, "",
		EVENT("ADDED", "b", "13"), "no JSON",
		"{\"type\":\"ERROR\",\"object\":{\"code\":401}}",
		("{\"type\":\"ERROR\",\"object\":{\"code\":504,\"details\":{"
		"\"causes\":[{\"reason\":\"ResourceVersionTooLarge\"}]}}}") };
	static const unsigned int refusals[] = { 410, 401, 404, 422, 504 };

	if (which < 8)
		answer(200, bodies[which]);
	else if (which < 13)
		refuse(refusals[which - 8], "why");
	else
		lose(FEED_CAUSE_RESET);
}

/*
 * Whatever a server answers, in whatever order: it is not asked again and again
 * at once.  Three different answers in turn, 60 times; pages go on at once, as
 * far as there are.
 */
TEST(nothing_makes_a_circle)
{
	enum { ANSWERS = 14, ASKED = 60, MOST_A_SECOND = 10 };
	int64_t least = INT64_MAX;

	for (unsigned int i = 0; i < ANSWERS * ANSWERS * ANSWERS; i++) {
		const unsigned int turn[] = { i % ANSWERS,
			i / ANSWERS % ANSWERS, i / ANSWERS / ANSWERS };
		const monotime_t began = monotime_from_ms(1000000);
		int64_t took;

		if (turn[0] == 1 && turn[1] == 1 && turn[2] == 1)
			continue;
		begin(i % 2 == 0 ? "services" : "serviceentries");
		for (unsigned int n = 0; n < ASKED; n++) {
			(void)ask();
			out_of_turn(turn[n % 3]);
		}
		took = monotime_ms_since(reflector_deadline(&r), began);
		if (took < ASKED * 1000 / MOST_A_SECOND)
			printf("  %u, %u, %u: %u times in %lld ms\n", turn[0],
			    turn[1], turn[2], ASKED, (long long)took);
		least = took < least ? took : least;
	}
	CHECK(least >= ASKED * 1000 / MOST_A_SECOND);
}

int
main(void)
{
	begin("services");
	test_run();
	reflector_free(&r);
	return test_summary();
}
