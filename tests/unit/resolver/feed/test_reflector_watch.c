/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reflector's watch: its versions, its ends, and what is lost with it. */
#include "tests/unit/resolver/feed/reflector_server.h"

/* ibidem: after ADDED, MODIFIED, BOOKMARK, DELETED the next is 10 to 40. */
TEST(K24_resource_version_update)
{
	static const struct {
		const char *event, *version;
	} steps[] = {
		{ EVENT("ADDED", "x", "10"), "10" },
		{ EVENT("MODIFIED", "x", "20"), "20" },
		{ "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
		  "\"resourceVersion\":\"30\"}}}", "30" },
		{ EVENT("DELETED", "x", "40"), "40" },
	};
	char wanted[40];

	watch_from_10();
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		CHECK(say(steps[i].event));
		CHECK(strcmp(r.mirror.version, steps[i].version) == 0);
		now = monotime_add_ms(now, 2000);
		end_whole();
		CHECK(cause == FEED_CAUSE_PLANNED && reflector_is_due(&r, now));
		(void)snprintf(wanted, sizeof(wanted), "&resourceVersion=%s&",
		    steps[i].version);
		CHECK(asks(wanted));
		reflector_head(&r, now, 200);
	}
}

TEST(watch_expired)
{
	for (int in_stream = 0; in_stream < 2; in_stream++) {
		watch_from_10();
		if (in_stream)
			CHECK(!say(GONE));
		else
			reflector_head(&r, now, 410);
		end_whole();
		CHECK(cause == FEED_CAUSE_PLANNED && !r.failing);
		CHECK(reflector_is_due(&r, now));
		CHECK(strcmp(query(), "resourceVersion=10") == 0);
		answer(200, LIST("30"));
		CHECK(asks("&resourceVersion=30&"));
		/* Again at once: then not as fast. */
		reflector_head(&r, now, 200);
		CHECK(!say(GONE));
		end_whole();
		CHECK(!reflector_is_due(&r, now));
	}
}

/* API servers before 1.18.6 give no cause. */
TEST(item_28_version_too_large_by_its_message)
{
	watch_from_10();
	CHECK(!say(GONE));
	end_whole();
	answer(504, "{\"code\":504,\"reason\":\"Timeout\",\"message\":"
	    "\"Timeout: Too large resource version: 10, current: 5\"}");
	CHECK(reflector_is_due(&r, now));
	CHECK(strcmp(query(), "limit=500") == 0);
}

TEST(version_too_large)
{
	static const char body[] = "{\"code\":504,\"reason\":\"Timeout\","
	    "\"details\":{\"causes\":[{\"reason\":"
	    "\"ResourceVersionTooLarge\"}],\"retryAfterSeconds\":1}}";

	watch_from_10();
	CHECK(!say(GONE));
	end_whole();
	CHECK(asks("resourceVersion=10"));
	answer(504, body);
	CHECK(reflector_is_due(&r, now));
	CHECK(strcmp(query(), "limit=500") == 0);
	/* Of a watch: after a while, for it may be one server of several. */
	watch_from_10();
	end_whole();
	(void)ask();
	answer(504, body);
	CHECK(r.failing && !reflector_is_due(&r, now));
	CHECK(strcmp(query(), "limit=500") == 0);
}

TEST(watch_too_short)
{
	watch_from_10();
	end_whole();
	CHECK(cause == FEED_CAUSE_PROTOCOL && r.failing);
	CHECK(!reflector_is_due(&r, now));
	CHECK(asks("&resourceVersion=10&"));
	reflector_head(&r, now, 200);
	CHECK(!r.failing);
	/* With an event it is none, but it is no reason to hurry either. */
	CHECK(say(EVENT("ADDED", "x", "11")));
	end_whole();
	CHECK(cause == FEED_CAUSE_PLANNED && !reflector_is_due(&r, now));
	CHECK(reflector_is_due(&r, monotime_add_ms(now, 1000)));
}

TEST(watch_lost)
{
	watch_from_10();
	CHECK(say(EVENT("ADDED", "x", "11")));
	lose(FEED_CAUSE_RESET);
	CHECK(cause == FEED_CAUSE_RESET && r.failing);
	CHECK(strstr(r.error, "services: lost") != NULL);
	CHECK(asks("&resourceVersion=11&"));
	CHECK(r.mirror.store.count == 2);
}

TEST(watch_cut_within_an_event)
{
	watch_from_10();
	CHECK(say("{\"type\":"));
	end_whole();
	CHECK(cause == FEED_CAUSE_CONTENT && r.failing);
}

TEST(watch_silent)
{
	monotime_t heard;

	watch_from_10();
	heard = now;
	now = monotime_add_ms(now, 170000);
	CHECK(!reflector_is_silent(&r, now));
	CHECK(say("\n"));
	CHECK(!reflector_is_silent(&r, monotime_add_ms(heard, 181000)));
	now = reflector_deadline(&r);
	CHECK(monotime_ms_since(now, heard) == 350000);
	CHECK(reflector_is_silent(&r, now));
	lose(FEED_CAUSE_TIMEOUT);
	CHECK(asks("&resourceVersion=10&"));
}

/* Events that break a watch again and again: then a list, not the same. */
TEST(watch_that_stumbles)
{
	watch_from_10();
	for (int i = 0; i < 2; i++) {
		CHECK(!say("{\"type\":\"ODD\",\"object\":{}}"));
		end_whole();
		CHECK(cause == FEED_CAUSE_CONTENT);
		CHECK(asks("watch=1"));
		reflector_head(&r, now, 200);
	}
	CHECK(!say("{\"type\":\"ODD\",\"object\":{}}"));
	end_whole();
	CHECK(strcmp(query(), "resourceVersion=10") == 0);
}

/* A watch that is let in and ends with that status: when the next request is due. */
static int64_t
end_with(const char *status)
{
	const monotime_t before = now;

	CHECK(!say(status));
	end_whole();
	CHECK(cause == FEED_CAUSE_STATUS && r.failing);
	return monotime_ms_since(reflector_deadline(&r), before);
}

TEST(item_28_patience_within_a_watch)
{
	static const char many[] = "{\"type\":\"ERROR\",\"object\":{"
	    "\"code\":429,\"reason\":\"TooManyRequests\",\"details\":{"
	    "\"retryAfterSeconds\":1}}}";

	watch_from_10();
	for (int i = 0; i < 20; i++) {
		CHECK(end_with(many) >= 1000);
		CHECK(asks("watch=1") && strstr(target, "&resourceVersion=10&"));
		reflector_head(&r, now, 200);
	}
	/* The server lets it in each time: that ends no back-off. */
	CHECK(r.backoff.ceiling_ms > 10000);
}

TEST(item_28_trouble_within_a_watch)
{
	static const char trouble[] = "{\"type\":\"ERROR\",\"object\":{"
	    "\"code\":500,\"reason\":\"InternalError\"}}";

	watch_from_10();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2; i++) {
			(void)end_with(trouble);
			CHECK(asks("watch=1"));
			reflector_head(&r, now, 200);
		}
		(void)end_with(trouble);
		CHECK(strcmp(query(), "limit=500") == 0);
		answer(200, LIST("10"));
		CHECK(asks("&resourceVersion=10&"));
		reflector_head(&r, now, 200);
		/* The version was not the trouble: no more lists. */
		for (int i = 0; i < 10; i++) {
			(void)end_with(trouble);
			CHECK(asks("watch=1"));
			reflector_head(&r, now, 200);
		}
		CHECK(r.backoff.ceiling_ms > 10000);
		/* Until a watch works again. */
		CHECK(say(EVENT("ADDED", "x", "10")));
		lose(FEED_CAUSE_RESET);
		CHECK(asks("watch=1"));
		reflector_head(&r, now, 200);
	}
}

TEST(object_that_is_left_out)
{
	watch_from_10();
	CHECK(say("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":"
	    "\"a\",\"namespace\":\"n\",\"resourceVersion\":\"12\"},\"spec\":{"
	    "\"clusterIP\":\"\\u0000\"}}}"));
	CHECK(strstr(r.mirror.complaint, "Service n/a is left out") != NULL);
	CHECK(r.mirror.store.count == 0 && r.mirror.changed);
	CHECK(strcmp(r.mirror.version, "12") == 0);
}

/* A watch goes on behind the last event that came whole, and misses none. */
TEST(watch_lost_at_each_octet)
{
	static const char *const events[] = { EVENT("ADDED", "b", "11"),
		EVENT("DELETED", "b", "12"), EVENT("MODIFIED", "c", "13"), "" };
	static const char all[] = EVENT("ADDED", "b", "11")
		EVENT("DELETED", "b", "12") EVENT("MODIFIED", "c", "13");

	for (size_t n = 0; n < sizeof(all); n++) {
		char from[40];
		long seen;

		watch_from_10();
		(void)reflector_body(&r, now, all, n);
		lose(FEED_CAUSE_RESET);
		seen = strtol(r.mirror.version, NULL, 10) - 10;
		(void)snprintf(from, sizeof(from), "resourceVersion=%ld&",
		    seen + 10);
		CHECK(asks(from) && seen >= 0 && seen <= 3);
		reflector_head(&r, now, 200);
		for (size_t i = (size_t)seen; i < 3; i++)
			CHECK(say(events[i]));
		CHECK(r.mirror.store.count == 2 && !r.failing);
		CHECK(strcmp(r.mirror.version, "13") == 0);
	}
}

int
main(void)
{
	begin("services");
	test_run();
	reflector_free(&r);
	return test_summary();
}
