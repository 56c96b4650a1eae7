/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/json_tree.h"
#include "resolver/text/utf8.h"
#include "tests/check.h"

static struct json_tree tree = JSON_TREE_INIT;
static const char *why;
static unsigned int line;
static int error;

/* The text as a tree, from memory of exactly its size. */
static const json_t *
take(const char *text, size_t length)
{
	char *copy = malloc(length);
	const struct json_range range = { .text = copy, .length = length,
	    .line = 7 };
	const json_t *node;

	memcpy(copy, text, length);
	node = json_tree_take(&tree, &range, &error, &why, &line);
	free(copy);
	CHECK((node == NULL) == (error != 0));
	return node;
}

TEST(numbers)
{
	long long number = 5;

	CHECK(json_tree_integer(take("65535", 5), 1, 65535, &number) &&
	    number == 65535);
	CHECK(!json_tree_integer(take("65536", 5), 1, 65535, &number));
	CHECK(!json_tree_integer(take("1.0", 3), 1, 65535, &number));
	CHECK(!json_tree_integer(take("\"1\"", 3), 1, 65535, &number));
	CHECK(!json_tree_integer(NULL, 1, 65535, &number));
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

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(utf8_length(good[i], good[i] + strlen(good[i])) ==
		    strlen(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(utf8_length(bad[i], bad[i] + strlen(bad[i])) == 0);
}

/* The reasons are jansson's, without what the stranger wrote. */
TEST(what_is_refused)
{
	static const struct {
		const char *text;
		size_t length;
		unsigned int line;
		const char *why;
	} bad[] = {
		{ "{\"a\":1,\n\"b\":2,\n\"a\":3}", 21, 9, "duplicate object key" },
		{ "[1\0]", 4, 7, "a NUL" },
		{ "\"\\u0000\"", 8, 7, "\\u0000 is not allowed" },
		{ "[1 2]", 5, 7, "']' expected" },
		{ "\n1 1", 4, 8, "end of file expected" },
		{ "\"\033[m", 4, 7, "control character 0x1b" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(take(bad[i].text, bad[i].length) == NULL);
		CHECK(error == -EINVAL);
		if (strncmp(why, bad[i].why, strlen(bad[i].why)) != 0 ||
		    line != bad[i].line) {
			printf("  %zu: %s, line %u\n", i, why, line);
			CHECK(0);
		}
	}
}

TEST(too_long)
{
	char *text = malloc(JSON_TREE_MOST + 1);

	memset(text, ' ', JSON_TREE_MOST + 1);
	text[0] = '1';
	CHECK(take(text, JSON_TREE_MOST) != NULL);
	CHECK(take(text, JSON_TREE_MOST + 1) == NULL && error == -EINVAL);
	free(text);
}

int
main(void)
{
	test_run();
	json_tree_free(&tree);
	return test_summary();
}
