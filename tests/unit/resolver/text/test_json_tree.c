/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/json_tree.h"
#include "resolver/text/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static struct json_tree tree = JSON_TREE_INIT;
static const char *why;
static unsigned int line;
static int error;

/* The text as a tree, from memory of exactly its size. */
static const struct json_node *
take(const char *text)
{
	size_t length = strlen(text);
	char *copy = malloc(length);
	const struct json_range range = { .text = copy, .length = length,
	    .line = 7 };
	const struct json_node *node;

	memcpy(copy, text, length);
	why = "";
	line = 0;
	node = json_tree_take(&tree, &range, &error, &why, &line);
	free(copy);
	CHECK((node == NULL) == (error != 0));
	return node;
}

static const char *
string_of(const char *text)
{
	const char *string = json_tree_string(take(text));

	return string != NULL ? string : "(none)";
}

TEST(strings)
{
	CHECK(strcmp(string_of("\"\""), "") == 0);
	CHECK(strcmp(string_of("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\""),
	    "a\"\\/\b\f\n\r\tz") == 0);
	CHECK(strcmp(string_of("\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00!\""),
	    "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80!") == 0);
	CHECK(json_tree_string(take("7")) == NULL);
	CHECK(json_tree_string(NULL) == NULL);
}

TEST(numbers)
{
	long long number = 5;

	CHECK(json_tree_integer(take("65535"), 1, 65535, &number) &&
	    number == 65535);
	CHECK(json_tree_integer(take("-0"), 0, 0, &number) && number == 0);
	CHECK(!json_tree_integer(take("65536"), 1, 65535, &number));
	CHECK(!json_tree_integer(take("1.0"), 1, 65535, &number));
	CHECK(!json_tree_integer(take("1e2"), 1, 65535, &number));
	CHECK(!json_tree_integer(take("\"1\""), 1, 65535, &number));
	CHECK(!json_tree_integer(NULL, 1, 65535, &number));
	CHECK(json_tree_integer(take("99999999999999999999"), LLONG_MIN,
	    LLONG_MAX, &number) && number == LLONG_MAX);
	CHECK(json_tree_integer(take("-99999999999999999999"), LLONG_MIN,
	    LLONG_MAX, &number) && number == LLONG_MIN);
}

TEST(trees)
{
	const struct json_node *root = take("{ \"a\" : [ 1 , true, [], {} ],\n"
	    "\"b\":{\"c\":null},\"a2\":2}");
	const struct json_node *item =
	    json_tree_items(json_tree_member(root, "a"));
	long long number;

	CHECK(json_tree_integer(item, 1, 1, &number));
	CHECK(json_tree_is(item->next, JSON_KIND_TRUE));
	CHECK(json_tree_is(item->next->next, JSON_KIND_ARRAY));
	CHECK(json_tree_items(item->next->next) == NULL);
	CHECK(json_tree_is(item->next->next->next, JSON_KIND_OBJECT));
	CHECK(item->next->next->next->next == NULL);
	CHECK(json_tree_is(json_tree_member(json_tree_member(root, "b"), "c"),
	    JSON_KIND_NULL));
	CHECK(json_tree_member(root, "d") == NULL);
	CHECK(json_tree_member(json_tree_member(root, "d"), "e") == NULL);
	CHECK(json_tree_items(root) == NULL);
}

/* More values than one block has, twice with the same memory. */
TEST(many_values)
{
	char text[6002] = "[1";
	const struct json_node *item;

	for (size_t i = 2; i < 6000; i += 2)
		memcpy(text + i, ",1", 2);
	memcpy(text + 6000, "]", 2);
	for (int turn = 0; turn < 2; turn++) {
		size_t count = 0;

		item = json_tree_items(take(text));
		for (; item != NULL; item = item->next)
			count++;
		CHECK(count == 3000);
	}
}

/* RFC 3629 section 4: the first and the last of each row. */
TEST(what_is_utf8)
{
	static const char *const good[] = { "\x01", "\x7f", "\xc2\x80",
	    "\xdf\xbf", "\xe0\xa0\x80", "\xe1\x80\x80", "\xec\xbf\xbf",
	    "\xed\x80\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
	    "\xf0\x90\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80",
	    "\xc1\xbf", "\xc2", "\xc2\x7f", "\xc2\xc0", "\xe0\x9f\xbf",
	    "\xe1\x80", "\xe1\x80\x7f", "\xe1\x80\xc0", "\xed\xa0\x80",
	    "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf1\x80\x80",
	    "\xf1\x80\x80\xc0", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
	    "\xff" };
	char text[16];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(utf8_length(good[i], good[i] + strlen(good[i])) ==
		    strlen(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(utf8_length(bad[i], bad[i] + strlen(bad[i])) == 0);
		(void)snprintf(text, sizeof(text), "[\"%s\"]", bad[i]);
		CHECK(take(text) == NULL && error == -EINVAL);
		CHECK(strcmp(why, "a string that is not UTF-8") == 0);
		(void)snprintf(text, sizeof(text), "\"%s", bad[i]);
		CHECK(take(text) == NULL && error == -EINVAL);
	}
	CHECK(strcmp(string_of("\"\\ta\xc3\xa4\xf0\x9f\x98\x80z\""),
	    "\ta\xc3\xa4\xf0\x9f\x98\x80z") == 0);
}

TEST(nul_is_no_end)
{
	static const struct {
		const char *text;
		size_t length;
	} bad[] = { { "1\0", 2 }, { "1\0" "2", 3 }, { "[1\0]", 4 },
	    { "\0", 1 }, { "\"a\0\"", 4 }, { "{\"a\"\0:1}", 8 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct json_range range = { .text = bad[i].text,
		    .length = bad[i].length, .line = 1 };

		CHECK(json_tree_take(&tree, &range, &error, &why,
		    &line) == NULL && error == -EINVAL);
	}
}

TEST(names_that_stand_twice)
{
	static const char same[] =
	    "two members of an object have the same name";

	CHECK(take("{\"a\":1,\n\"b\":2,\n\"a\":3}") == NULL);
	CHECK(strcmp(why, same) == 0 && line == 9);
	CHECK(take("[{\"\":{\"a\":0,\"\\u0061\":\n0}}]") == NULL);
	CHECK(strcmp(why, same) == 0 && line == 7);
	CHECK(take("{\"a\":{\"a\":{\"a\":0}},\"A\":[{\"a\":0},{\"a\":0}]}")
	    != NULL);
}

/* "count" members with long names, and at last the name "last" once more. */
static char *
object_of(size_t count, const char *last)
{
	char *text = malloc(count * 80 + 100), *at = text;

	*at++ = '{';
	for (size_t i = 0; i < count; i++)
		at += snprintf(at, 100, "\"%060zu\":%zu,\n", i, i);
	(void)snprintf(at, 100, "\"%s\":1}", last);
	return text;
}

/* Compared two by two, this would take minutes. */
TEST(many_members)
{
	const size_t count = 100000;
	char *text = object_of(count, "last"), name[61];

	CHECK(take(text) != NULL);
	free(text);
	(void)snprintf(name, sizeof(name), "%060zu", count / 3);
	text = object_of(count, name);
	CHECK(take(text) == NULL && line == 7 + count);
	CHECK(strcmp(why, "two members of an object have the same name") == 0);
	free(text);
}

/* An array of one value less, and of as many, which the array itself adds to. */
TEST(too_many_values)
{
	size_t length = 2 * JSON_TREE_MAX_VALUES;
	char *text = malloc(length + 2);

	for (size_t i = 0; i < length; i += 2)
		memcpy(text + i, ",1", 2);
	text[0] = '[';
	text[length - 2] = ']';
	text[length - 1] = '\0';
	CHECK(take(text) != NULL);
	memcpy(text + length - 2, ",1]", 4);
	CHECK(take(text) == NULL && error == -EINVAL);
	CHECK(strcmp(why, "more than 2000000 values") == 0);
	free(text);
	json_tree_free(&tree);
}

TEST(what_is_no_json)
{
	static const struct {
		const char *text;
		const char *why;
		unsigned int line;
	} bad[] = {
		{ "{\"a\":\n\n01}", "neither a comma nor a closing bracket", 9 },
		{ "nul", "not a value", 7 },
		{ "-", "not a value", 7 },
		{ "1.", "number without digits behind its dot", 7 },
		{ "1e+", "number without digits in its exponent", 7 },
		{ "\"\\u12g4\"", "bad escape in a string", 7 },
		{ "\"\\ud800\"", "bad escape in a string", 7 },
		{ "\"\\ud800\\u0041\"", "bad escape in a string", 7 },
		{ "\"\\udc00\"", "bad escape in a string", 7 },
		{ "\"\\u0000\"", "NUL in a string", 7 },
		{ "\"\\x\"", "bad escape in a string", 7 },
		{ "\"\n\"", "control character in a string", 8 },
		{ "\"a", "string without an end", 7 },
		{ "{a:1}", "a member without a name in quotes", 7 },
		{ "{\"a\" 1}", "no \":\" behind a member's name", 7 },
		{ "[1 2]", "neither a comma nor a closing bracket", 7 },
		{ "[1,]", "not a value", 7 },
		{ "1 1", "something behind a value", 7 },
		{ "\"\\udc00\\ud800\"", "bad escape in a string", 7 },
		{ "\"\\ud800\\ud800\"", "bad escape in a string", 7 },
	};
	char deep[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(take(bad[i].text) == NULL && error == -EINVAL);
		if (strcmp(why, bad[i].why) != 0 || line != bad[i].line) {
			printf("  %s: %s, line %u\n", bad[i].text, why, line);
			CHECK(0);
		}
	}
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	CHECK(take(deep) == NULL);
	CHECK(strcmp(why, "more than 64 levels of nesting") == 0);
}

int
main(void)
{
	test_run();
	json_tree_free(&tree);
	return test_summary();
}
