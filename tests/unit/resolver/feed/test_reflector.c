/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every state of a reflector and every way out of it, without a network. */
#include "resolver/feed/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct reflector r;
static monotime_t now;
static char target[REFLECTOR_TARGET_SIZE];
static enum feed_cause cause;

static const struct kube_kind *
kind_of(const char *plural)
{
	for (size_t i = 0; i < kube_kind_count; i++) {
		if (strcmp(kube_kinds[i].plural, plural) == 0)
			return &kube_kinds[i];
	}
	abort();
}

static void
begin(const char *plural)
{
	reflector_free(&r);
	now = monotime_from_ms(1000000);
	reflector_init(&r, kind_of(plural), NULL, 1 << 20, 7);
}

/* Passes time until the next request is due, and sends it: what it asks. */
static const char *
ask(void)
{
	CHECK(!r.running);
	if (!reflector_is_due(&r, now))
		now = reflector_deadline(&r);
	CHECK(reflector_is_due(&r, now));
	reflector_start(&r, now, 0, target);
	CHECK(!reflector_is_due(&r, now));
	return target;
}

/* Whether the next request has that in it, at once or not. */
static bool
asks(const char *what)
{
	bool found = strstr(ask(), what) != NULL;

	if (!found)
		printf("  asked: %s\n", target);
	return found;
}

/* What comes behind the path of services. */
static const char *
query(void)
{
	const char *text = strchr(ask(), '?');

	return text != NULL ? text + 1 : "";
}

static bool
say(const char *text)
{
	return reflector_body(&r, now, text, strlen(text));
}

static void
end_whole(void)
{
	const struct reflector_end end = { .whole = true, .why = "" };

	cause = reflector_end(&r, now, 500, &end);
}

static void
lose(enum feed_cause why)
{
	const struct reflector_end end = { .cause = why, .why = "lost" };

	cause = reflector_end(&r, now, 500, &end);
}

/* A whole answer to the request that runs. */
static void
answer(unsigned int http, const char *body)
{
	reflector_head(&r, now, http);
	(void)say(body);
	end_whole();
}

static void
refuse(unsigned int http, const char *reason)
{
	char body[200];

	(void)snprintf(body, sizeof(body), "{\"kind\":\"Status\",\"code\":%u,"
	    "\"reason\":\"%s\",\"message\":\"why\"}", http, reason);
	answer(http, body);
}

#define LIST(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}," \
	"\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}]}"
#define PAGE(token) "{\"metadata\":{\"resourceVersion\":\"10\",\"continue\":" \
	"\"" token "\"},\"items\":[{\"metadata\":{\"name\":\"p" token "\"}}]}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":{" \
	"\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version \
	"\"}}}\n"
#define GONE "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":" \
	"\"Expired\"}}"

/* Watching, from a list at version 10 of a server without WatchList. */
static void
watch_from_10(void)
{
	begin("services");
	(void)ask();
	refuse(422, "Invalid");
	(void)ask();
	answer(200, LIST("10"));
	CHECK(asks("resourceVersion=10&"));
	reflector_head(&r, now, 200);
}

static void
initial_events(void)
{
	begin("services");
	CHECK(strcmp(ask(), "/api/v1/services?watch=1&allowWatchBookmarks=true"
	    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	    "&timeoutSeconds=300") == 0);
	reflector_head(&r, now, 200);
	CHECK(say(EVENT("ADDED", "a", "3") EVENT("ADDED", "b", "4")));
	CHECK(!reflector_is_settled(&r) && r.mirror.store.count == 0);
	CHECK(say("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
	    "\"resourceVersion\":\"9\",\"annotations\":{"
	    "\"k8s.io/initial-events-end\":\"true\"}}}}"));
	CHECK(reflector_is_settled(&r) && r.mirror.store.count == 2);
	CHECK(say(EVENT("DELETED", "a", "11")));
	CHECK(r.mirror.store.count == 1);
	end_whole();
	CHECK(cause == FEED_CAUSE_PLANNED);
	CHECK(strcmp(query(), "watch=1&allowWatchBookmarks=true"
	    "&resourceVersion=11&timeoutSeconds=300") == 0);
}

static void
initial_events_refused(void)
{
	static const unsigned int codes[] = { 400, 405, 422 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		begin("services");
		(void)ask();
		refuse(codes[i], "Invalid");
		CHECK(cause == FEED_CAUSES && !r.failing);
		CHECK(reflector_is_due(&r, now));
		CHECK(strcmp(query(), "limit=500&resourceVersion=0") == 0);
	}
}

/* An old server that only ignores what it does not know. */
static void
initial_events_without_end(void)
{
	begin("services");
	(void)ask();
	reflector_head(&r, now, 200);
	CHECK(say(EVENT("ADDED", "a", "3")));
	CHECK(!say("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
	    "\"resourceVersion\":\"9\"}}}"));
	lose(FEED_CAUSE_PROTOCOL);
	CHECK(asks("limit=500&resourceVersion=0"));
	begin("services");
	(void)ask();
	reflector_head(&r, now, 200);
	now = reflector_deadline(&r);
	CHECK(reflector_is_silent(&r, now));
	lose(FEED_CAUSE_TIMEOUT);
	CHECK(cause == FEED_CAUSES);
	CHECK(asks("limit=500&resourceVersion=0"));
	begin("services");
	(void)ask();
	answer(200, EVENT("ADDED", "a", "3"));
	CHECK(asks("limit=500&resourceVersion=0"));
}

/* No answer at all says nothing about WatchList. */
static void
initial_events_unreachable(void)
{
	begin("services");
	(void)ask();
	lose(FEED_CAUSE_CONNECT);
	CHECK(cause == FEED_CAUSE_CONNECT && r.failing);
	CHECK(asks("sendInitialEvents"));
}

static void
list_in_pages(void)
{
	begin("services");
	(void)ask();
	refuse(422, "Invalid");
	(void)ask();
	answer(200, PAGE("x+/="));
	CHECK(!reflector_is_settled(&r) && reflector_is_due(&r, now));
	CHECK(strcmp(query(), "limit=500&continue=x%2B%2F%3D") == 0);
	answer(200, PAGE("y"));
	CHECK(!reflector_is_settled(&r) && r.mirror.store.count == 0);
	CHECK(asks("continue=y"));
	answer(200, LIST("12"));
	CHECK(reflector_is_settled(&r) && r.mirror.store.count == 3);
	CHECK(asks("watch=1") && strstr(target, "resourceVersion=12"));
}

/* 410 of a page: the whole list, in one, at the version first asked for. */
static void
page_expired(void)
{
	begin("services");
	(void)ask();
	refuse(422, "Invalid");
	(void)ask();
	answer(200, PAGE("x"));
	(void)ask();
	refuse(410, "Expired");
	CHECK(reflector_is_due(&r, now) && !r.failing);
	CHECK(strcmp(query(), "resourceVersion=0") == 0);
	answer(200, LIST("12"));
	CHECK(r.mirror.store.count == 1);
	CHECK(asks("resourceVersion=12"));
}

/* A list that fails in the middle begins anew; what was there stays. */
static void
page_lost(void)
{
	begin("services");
	(void)ask();
	refuse(422, "Invalid");
	(void)ask();
	answer(200, PAGE("x"));
	(void)ask();
	reflector_head(&r, now, 200);
	(void)say("{\"items\":[{\"metadata\":{\"name\":\"lost\"}}");
	lose(FEED_CAUSE_RESET);
	CHECK(cause == FEED_CAUSE_RESET);
	CHECK(asks("limit=500&resourceVersion=0"));
	answer(200, LIST("12"));
	CHECK(r.mirror.store.count == 1);
}

/* cg/tools/cache/reflector_test.go: the lists are at "0", "10" and "". */
static void
K19_expired_exact(void)
{
	begin("services");
	(void)ask();
	refuse(422, "Invalid");
	CHECK(strcmp(query(), "limit=500&resourceVersion=0") == 0);
	answer(200, LIST("10"));
	(void)ask();
	refuse(410, "Expired");
	CHECK(strcmp(query(), "resourceVersion=10") == 0);
	refuse(410, "Expired");
	CHECK(strcmp(query(), "limit=500") == 0);
	answer(200, LIST("20"));
	CHECK(asks("resourceVersion=20") && !r.failing);
	/* A server that cannot even do that is not asked at once. */
	refuse(410, "Expired");
	(void)ask();
	refuse(410, "Expired");
	(void)ask();
	refuse(410, "Expired");
	CHECK(r.failing && !reflector_is_due(&r, now));
}

/* ibidem: after ADDED, MODIFIED, BOOKMARK, DELETED the next is 10 to 40. */
static void
K24_resource_version_update(void)
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

static void
watch_expired(void)
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

static void
version_too_large(void)
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

static void
watch_too_short(void)
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

static void
watch_lost(void)
{
	watch_from_10();
	CHECK(say(EVENT("ADDED", "x", "11")));
	lose(FEED_CAUSE_RESET);
	CHECK(cause == FEED_CAUSE_RESET && r.failing);
	CHECK(strstr(r.error, "services: lost") != NULL);
	CHECK(asks("&resourceVersion=11&"));
	CHECK(r.mirror.store.count == 2);
}

static void
watch_cut_within_an_event(void)
{
	watch_from_10();
	CHECK(say("{\"type\":"));
	end_whole();
	CHECK(cause == FEED_CAUSE_CONTENT && r.failing);
}

static void
watch_silent(void)
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

/* One octet a second would be for ever. */
static void
list_that_trickles(void)
{
	begin("services");
	r.no_initial = true;
	(void)ask();
	reflector_head(&r, now, 200);
	for (int i = 0; i < 599; i++) {
		now = monotime_add_ms(now, 1000);
		CHECK(!reflector_is_silent(&r, now));
		CHECK(say(" "));
	}
	CHECK(reflector_is_silent(&r, monotime_add_ms(now, 1000)));
}

/* Events that break a watch again and again: then a list, not the same. */
static void
watch_that_stumbles(void)
{
	watch_from_10();
	for (int i = 0; i < 2; i++) {
		CHECK(!say("{\"type\":\"ODD\",\"object\":{}}"));
		end_whole();
		CHECK(cause == FEED_CAUSE_CONTENT);
		CHECK(asks("watch=1"));
		reflector_head(&r, now, 200);
	}
	CHECK(!say("{\"type\":\"ERROR\",\"object\":{\"code\":500}}"));
	end_whole();
	CHECK(cause == FEED_CAUSE_STATUS);
	CHECK(strcmp(query(), "resourceVersion=10") == 0);
}

static void
too_many_requests(void)
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

static void
unauthorized(void)
{
	begin("services");
	(void)ask();
	refuse(401, "Unauthorized");
	CHECK(cause == FEED_CAUSE_STATUS && reflector_is_due(&r, now));
	CHECK(asks("sendInitialEvents"));
	refuse(401, "Unauthorized");
	CHECK(!reflector_is_due(&r, now) && !reflector_is_settled(&r));
	CHECK(strstr(r.error, "HTTP 401: why") != NULL);
}

static void
forbidden_kind(void)
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
	refuse(422, "Invalid");
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

static void
absent_kind(void)
{
	begin("serviceentries");
	(void)ask();
	refuse(404, "NotFound");
	CHECK(reflector_is_settled(&r) && !r.failing && cause == FEED_CAUSES);
	CHECK(monotime_ms_since(reflector_deadline(&r), now) >=
	    REFLECTOR_ABSENT);
	CHECK(asks("sendInitialEvents"));
	begin("services");
	(void)ask();
	refuse(404, "NotFound");
	CHECK(r.failing && !reflector_is_settled(&r));
}

/* One that was there: once may be a server that has only just started. */
static void
kind_that_goes(void)
{
	begin("serviceentries");
	r.no_initial = true;
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

static void
back_off(void)
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

static void
resync(void)
{
	watch_from_10();
	now = monotime_add_ms(now, REFLECTOR_RESYNC + 1000);
	end_whole();
	CHECK(cause == FEED_CAUSE_PLANNED);
	CHECK(strcmp(query(), "limit=500") == 0);
	answer(200, LIST("11"));
	reflector_relist(&r, now);
	CHECK(strcmp(query(), "limit=500") == 0);
}

static void
in_a_namespace(void)
{
	begin("pods");
	r.namespace = "a b";
	CHECK(strstr(ask(), "/api/v1/namespaces/a%20b/pods?fieldSelector="
	    "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&watch=1") ==
	    target);
}

/* A proxy's page is shown, harmless. */
static void
words_of_strangers(void)
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

static void
objects_beyond_the_limit(void)
{
	begin("services");
	reflector_free(&r);
	reflector_init(&r, kind_of("services"), NULL, 60, 7);
	r.no_initial = true;
	(void)ask();
	reflector_head(&r, now, 200);
	CHECK(!say(LIST("10")));
	end_whole();
	CHECK(cause == FEED_CAUSE_CONTENT && !r.mirror.synced);
	CHECK(strstr(r.error, "limit") != NULL);
}

static void
object_that_is_left_out(void)
{
	watch_from_10();
	CHECK(say("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":"
	    "\"a\",\"namespace\":\"n\",\"resourceVersion\":\"12\"},\"spec\":{"
	    "\"clusterIP\":\"\\u0000\"}}}"));
	CHECK(strstr(r.mirror.complaint, "Service n/a is left out") != NULL);
	CHECK(r.mirror.store.count == 0 && r.mirror.changed);
	CHECK(strcmp(r.mirror.version, "12") == 0);
}

/* A list counts when it is whole, wherever it is lost. */
static void
list_lost_at_each_octet(void)
{
	static const char list[] = LIST("10");

	for (size_t n = 0; n < sizeof(list); n++) {
		begin("services");
		(void)ask();
		refuse(422, "Invalid");
		(void)ask();
		reflector_head(&r, now, 200);
		(void)reflector_body(&r, now, list, n);
		lose(FEED_CAUSE_RESET);
		CHECK(!reflector_is_settled(&r) && r.mirror.store.count == 0);
		CHECK(asks("resourceVersion=0"));
		answer(200, list);
		CHECK(reflector_is_settled(&r) && r.mirror.store.count == 1);
	}
}

/* A watch goes on behind the last event that came whole, and misses none. */
static void
watch_lost_at_each_octet(void)
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
static void
nothing_makes_a_circle(void)
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
	TEST(initial_events);
	TEST(initial_events_refused);
	TEST(initial_events_without_end);
	TEST(initial_events_unreachable);
	TEST(list_in_pages);
	TEST(page_expired);
	TEST(page_lost);
	TEST(K19_expired_exact);
	TEST(K24_resource_version_update);
	TEST(watch_expired);
	TEST(version_too_large);
	TEST(watch_too_short);
	TEST(watch_lost);
	TEST(watch_cut_within_an_event);
	TEST(watch_silent);
	TEST(list_that_trickles);
	TEST(watch_that_stumbles);
	TEST(too_many_requests);
	TEST(unauthorized);
	TEST(forbidden_kind);
	TEST(absent_kind);
	TEST(kind_that_goes);
	TEST(back_off);
	TEST(resync);
	TEST(in_a_namespace);
	TEST(words_of_strangers);
	TEST(objects_beyond_the_limit);
	TEST(object_that_is_left_out);
	TEST(list_lost_at_each_octet);
	TEST(watch_lost_at_each_octet);
	TEST(nothing_makes_a_circle);
	reflector_free(&r);
	return test_summary();
}
