/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reflector's first objects: a list in pages. */
#include "tests/unit/resolver/feed/reflector_server.h"

TEST(list_in_pages)
{
	begin("services");
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
TEST(page_expired)
{
	begin("services");
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
TEST(page_lost)
{
	begin("services");
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
TEST(K19_expired_exact)
{
	begin("services");
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

/* One octet a second would be for ever. */
TEST(list_that_trickles)
{
	begin("services");
	(void)ask();
	reflector_head(&r, now, 200);
	for (int i = 0; i < 599; i++) {
		now = monotime_add_ms(now, 1000);
		CHECK(!reflector_is_silent(&r, now));
		CHECK(say(" "));
	}
	CHECK(reflector_is_silent(&r, monotime_add_ms(now, 1000)));
}

TEST(resync)
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

TEST(in_a_namespace)
{
	begin("pods");
	r.namespace = "a b";
	CHECK(strstr(ask(), "/api/v1/namespaces/a%20b/pods?fieldSelector="
	    "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500") ==
	    target);
}

TEST(objects_beyond_the_limit)
{
	begin("services");
	reflector_free(&r);
	room.limit = 60 + KUBE_OBJECT_COST;
	reflector_init(&r, kind_of("services"), NULL, &room, 7);
	(void)ask();
	reflector_head(&r, now, 200);
	CHECK(!say(LIST("10")));
	end_whole();
	CHECK(cause == FEED_CAUSE_CONTENT && !r.mirror.synced);
	CHECK(strstr(r.error, "limit") != NULL);
}

/* Without room for both, what is listed anew takes the place of what was. */
TEST(item_28_a_list_without_room_beside_the_store)
{
	watch_from_10();
	room.limit = room.used + room.used / 2;
	for (int lost = 1; lost >= 0; lost--) {
		const size_t before = room.used;

		reflector_relist(&r, now);
		(void)ask();
		reflector_head(&r, now, 200);
		CHECK(say(LIST("30")));
		/* The kept table stays in use: none is made of a part. */
		CHECK(!reflector_is_settled(&r) && room.used <= room.limit);
		CHECK(r.mirror.store.count == 0 && before > 0);
		if (lost)
			lose(FEED_CAUSE_RESET);
		else
			end_whole();
	}
	CHECK(reflector_is_settled(&r) && r.mirror.store.count == 1);
}

/* A list counts when it is whole, wherever it is lost. */
TEST(list_lost_at_each_octet)
{
	static const char list[] = LIST("10");

	for (size_t n = 0; n < sizeof(list); n++) {
		begin("services");
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

int
main(void)
{
	begin("services");
	test_run();
	reflector_free(&r);
	return test_summary();
}
