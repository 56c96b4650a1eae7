/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/parts.h"

static struct kube_room room;
static struct kube_store a = KUBE_STORE_INIT(1, &room);
static struct kube_store b = KUBE_STORE_INIT(2, &room);
static struct kube_slim slim = KUBE_SLIM_INIT;
static struct kube_meta meta;
static const char *why;

/* The list of stores, which the caller frees. */
static char *
list_of(const struct kube_store *const *stores, size_t count, size_t *length)
{
	struct kube_list list;
	char *text;

	CHECK(kube_list_make(stores, count, &list) == 0);
	text = parts_join(list.parts, list.count, length);
	CHECK(list.length == *length);
	kube_list_free(&list);
	return text;
}

/* The table of both stores. */
static bool
list_is(const char *wanted)
{
	const struct kube_store *const stores[] = { &a, &b };
	size_t length;
	char *text = list_of(stores, 2, &length);
	bool right;

	right = length == strlen(wanted) && memcmp(text, wanted, length) == 0;
	if (!right)
		printf("  %.*s\n", (int)length, text);
	free(text);
	return right;
}

#define HEAD "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["

TEST(put_and_remove)
{
	CHECK(list_is(HEAD "\n]}\n"));
	CHECK(!kube_store_remove(&a, "n/a"));
	CHECK(kube_store_put(&a, "n/b", "2", 1) == 1);
	CHECK(kube_store_put(&a, "n/a", "1", 1) == 1);
	CHECK(kube_store_put(&a, "n/a", "1", 1) == 0);
	CHECK(kube_store_put(&b, "m/a", "3", 1) == 1);
	CHECK(list_is(HEAD "\n1,\n2,\n3\n]}\n"));
	CHECK(kube_store_put(&a, "n/a", "11", 2) == 1);
	CHECK(a.count == 2 && room.used == 3 * (3 + KUBE_OBJECT_COST) +
	    2 + 1 + 1);
	CHECK(kube_store_remove(&a, "n/b") && !kube_store_remove(&a, "n/b"));
	CHECK(list_is(HEAD "\n11,\n3\n]}\n"));
	kube_store_replace(&a, &b);
	CHECK(b.count == 0 && list_is(HEAD "\n3\n]}\n"));
	kube_store_clear(&a);
	CHECK(room.used == 0 && list_is(HEAD "\n]}\n"));
}

/* In whatever order they came. */
TEST(many_in_order)
{
	const struct kube_store *const stores[] = { &a };
	char key[20], text[20], *made;
	const char *last = "", *at;
	size_t length, count = 0;

	for (unsigned int i = 0; i < 5000; i++) {
		(void)snprintf(key, sizeof(key), "n/%u", i * 2654435761U);
		(void)snprintf(text, sizeof(text), "%u ", i * 2654435761U);
		CHECK(kube_store_put(&a, key, text, strlen(text)) == 1);
	}
	made = list_of(stores, 1, &length);
	made[length - 1] = '\0';
	for (at = strchr(made, '\n'); at != NULL && at[1] != ']';
	    at = strchr(at + 1, '\n')) {
		CHECK(strcmp(last, at) < 0);
		last = at;
		count++;
	}
	CHECK(count == 5000 && a.count == 5000);
	free(made);
	kube_store_clear(&a);
}

static const struct kube_kind *
kind_of(const char *kind)
{
	for (size_t i = 0; i < kube_kind_count; i++) {
		if (strcmp(kube_kinds[i].kind, kind) == 0)
			return &kube_kinds[i];
	}
	abort();
}

/* From memory of exactly its size. */
static int
make(const char *kind, const char *text)
{
	size_t length = strlen(text);
	char *copy = malloc(length);
	const struct json_range range = { .text = copy, .length = length,
	    .line = 1 };
	int error;

	memcpy(copy, text, length);
	error = kube_meta_read(&meta, &range);
	if (error == 0)
		error = kube_slim_make(&slim, kind_of(kind), &range, &why);
	free(copy);
	return error;
}

static bool
slim_is(const char *wanted)
{
	bool right = strcmp(slim.text, wanted) == 0;

	if (!right)
		printf("  %s\n", slim.text);
	return right;
}

TEST(slim_objects)
{
	CHECK(make("Service", "{ \"kind\" : \"X\", \"status\": {\"a\": [1, {}]"
	    "},\n\"metadata\": {\"uid\": \"u\", \"name\": \"a\","
	    " \"namespace\":\"n\", \"resourceVersion\": \"7\"}, \"spec\": {"
	    "\"ports\": [ {\"port\": 80, \"name\": \"x y\", \"nodePort\": 1},"
	    " 5 ], \"clusterIPs\": [ \"1\" , \"2\" ], \"selector\": {}}}") ==
	    0);
	CHECK(slim_is("{\"apiVersion\":\"v1\",\"kind\":\"Service\","
	    "\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{"
	    "\"ports\":[{\"port\":80,\"name\":\"x y\"},5],\"clusterIPs\":["
	    "\"1\",\"2\"]}}"));
	CHECK(strcmp(meta.key, "n/a") == 0 && strcmp(meta.version, "7") == 0);
	CHECK(make("EndpointSlice", "{\"metadata\":{\"labels\":{\"a\":\"b\","
	    "\"kubernetes.io/service-name\":\"s\"}},\"endpoints\":null,"
	    "\"ports\":{}}") == 0);
	CHECK(slim_is("{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":"
	    "\"EndpointSlice\",\"metadata\":{\"labels\":{"
	    "\"kubernetes.io/service-name\":\"s\"}},\"endpoints\":null,"
	    "\"ports\":{}}"));
	CHECK(meta.key[0] == '\0' && meta.version[0] == '\0');
}

TEST(bad_objects)
{
	CHECK(make("Service", "{\"metadata\":{\"name\":\"a\"}") == -EINVAL);
	CHECK(make("Service", "[]") == -EBADMSG);
	CHECK(make("Service", "{} {}") == -EINVAL);
	CHECK(make("Service", "{\"metadata\":{\"name\":\"\\u0000\"}}") ==
	    -EINVAL && meta.key[0] == '\0');
	CHECK(make("Service", "{\"metadata\":{\"name\":\"a\"},\"spec\":{"
	    "\"type\":\"\xff\"}}") == -EINVAL);
	CHECK(make("Service", "{\"metadata\":{\"name\":\"a\"},\"spec\":{"
	    "\"type\":tru}}") == -EINVAL && strcmp(meta.key, "/a") == 0);
	CHECK(make("Service", "{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}")
	    == -EINVAL);
	CHECK(make("Service", "{\"metadata\":7,\"spec\":[]}") == 0);
}

TEST(a_large_object)
{
	char *text = malloc(KUBE_OBJECT_MOST + 2);

	memset(text, ' ', KUBE_OBJECT_MOST + 1);
	memcpy(text, "{\"metadata\":{\"name\":\"a\"}}", 25);
	text[KUBE_OBJECT_MOST] = '\0';
	CHECK(make("Service", text) == 0);
	text[KUBE_OBJECT_MOST] = ' ';
	text[KUBE_OBJECT_MOST + 1] = '\0';
	CHECK(make("Service", text) == -EINVAL && strcmp(meta.key, "/a") == 0);
	free(text);
}

int
main(void)
{
	test_run();
	kube_store_clear(&a);
	kube_store_clear(&b);
	kube_slim_free(&slim);
	return test_summary();
}
