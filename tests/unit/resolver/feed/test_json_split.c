/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/json_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct json_split split = JSON_SPLIT_INIT;
static char objects[4096];

static void
append(const char *text, size_t length)
{
	size_t used = strlen(objects);

	memcpy(objects + used, text, length);
	objects[used + length] = '\0';
}

/* Appends the objects that are whole to "objects", one on each line. */
static int
drain(void)
{
	struct json_range object;
	int n;

	while ((n = json_split_next(&split, &object)) == 1) {
		append(object.text, object.length);
		append("\n", 1);
	}
	return n;
}

/* The text in pieces of that many octets, each from memory of its size. */
static int
feed(bool list, const char *text, size_t piece)
{
	size_t length = strlen(text);
	int error = 0;

	objects[0] = '\0';
	json_split_begin(&split, list);
	for (size_t at = 0; at < length && error == 0; at += piece) {
		size_t n = length - at < piece ? length - at : piece;
		char *copy = malloc(n);

		memcpy(copy, text + at, n);
		CHECK(json_split_add(&split, copy, n) == 0);
		free(copy);
		error = drain();
	}
	return error;
}

TEST(watch_cut_anywhere)
{
	static const char text[] = "{\"a\":{\"b\":1}}\n{\"s\":\"}{\\\"\\\\\"}"
	    "{}\r\n \t{\"c\":[{},{}]}\n";
	static const char wanted[] = "{\"a\":{\"b\":1}}\n{\"s\":\"}{\\\"\\\\\"}"
	    "\n{}\n{\"c\":[{},{}]}\n";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		CHECK(feed(false, text, piece) == 0);
		CHECK(strcmp(objects, wanted) == 0);
		CHECK(json_split_is_whole(&split));
	}
}

TEST(watch_that_ends_within)
{
	CHECK(feed(false, "{\"a\":1}{\"b\"", 3) == 0);
	CHECK(strcmp(objects, "{\"a\":1}\n") == 0);
	CHECK(!json_split_is_whole(&split));
}

TEST(what_is_no_watch)
{
	CHECK(feed(false, "[{}]", 9) == -EBADMSG);
	CHECK(feed(false, "{},{}", 9) == -EBADMSG);
	CHECK(feed(false, "{} }", 1) == -EBADMSG);
	CHECK(feed(false, "<html>", 2) == -EBADMSG);
	CHECK(feed(false, "\"{}\"", 2) == -EBADMSG);
}

static bool
head_is(const char *text)
{
	struct json_range head = json_split_head(&split);

	return head.length == strlen(text) &&
	    memcmp(head.text, text, head.length) == 0;
}

TEST(list_cut_anywhere)
{
	static const char text[] = "{\"kind\": \"ServiceList\",\n\"metadata\":"
	    "{\"resourceVersion\":\"7\",\"items\":[1]}, \"items\" : [ {\"a\":"
	    "\"]}\"} ,\n{\"items\":[{}]}, {} ],\"more\":\"items\"}\n";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		CHECK(feed(true, text, piece) == 0);
		CHECK(strcmp(objects, "{\"a\":\"]}\"}\n{\"items\":[{}]}\n{}\n")
		    == 0);
		CHECK(json_split_is_whole(&split));
		CHECK(head_is("{\"kind\":\"ServiceList\",\"metadata\":{"
		    "\"resourceVersion\":\"7\",\"items\":[1]},\"items\":[],"
		    "\"more\":\"items\"}"));
	}
}

TEST(list_without_items)
{
	CHECK(feed(true, "{\"items\":null,\"a\":{}}", 4) == 0);
	CHECK(objects[0] == '\0' && json_split_is_whole(&split));
	CHECK(feed(true, "{\"items\":[]}", 4) == 0);
	CHECK(objects[0] == '\0' && json_split_is_whole(&split));
	CHECK(feed(true, "{\"items\":[{}]", 4) == 0);
	CHECK(!json_split_is_whole(&split));
	CHECK(feed(true, "", 1) == 0 && !json_split_is_whole(&split));
}

TEST(what_is_no_list)
{
	CHECK(feed(true, "[{}]", 9) == -EBADMSG);
	CHECK(feed(true, "{\"items\":[1]}", 9) == -EBADMSG);
	CHECK(feed(true, "{\"items\":[[{}]]}", 9) == -EBADMSG);
	CHECK(feed(true, "{} {}", 9) == -EBADMSG);
	CHECK(feed(true, "text", 9) == -EBADMSG);
}

/* An object, or a list's head, that never ends. */
TEST(limits)
{
	size_t length = (size_t)1 << 16;
	char *text = malloc(length + 1);
	int error = 0;

	memset(text, 'x', length);
	text[length] = '\0';
	CHECK(feed(false, "{\"", 2) == 0);
	for (int i = 0; i < 1000 && error == 0; i++) {
		CHECK(json_split_add(&split, text, length) == 0);
		error = drain();
	}
	CHECK(error == -EMSGSIZE);
	CHECK(split.kept.size <= 2 * JSON_SPLIT_MAX_OBJECT);
	CHECK(feed(true, "{\"", 2) == 0);
	CHECK(json_split_add(&split, text, length) == 0);
	CHECK(drain() == -EMSGSIZE);
	memset(text, '[', length);
	CHECK(feed(true, "{\"a\":", 9) == 0);
	CHECK(json_split_add(&split, text, length) == 0);
	CHECK(drain() == -EMSGSIZE);
	free(text);
	json_split_begin(&split, false);
	CHECK(split.kept.size <= (size_t)1 << 20);
}

int
main(void)
{
	test_run();
	json_split_free(&split);
	return test_summary();
}
