/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/bom.h"

#include <string.h>

#include "tests/check.h"

static bool
becomes(const char *from, size_t length, const char *to)
{
	char text[16] = "";

	memcpy(text, from, length);
	return bom_take(text, &length) && length == strlen(to) &&
	    memcmp(text, to, length) == 0;
}

TEST(only_the_first_mark_is_taken)
{
	CHECK(becomes("\xef\xbb\xbf" "abc", 6, "abc"));
	CHECK(becomes("\xef\xbb\xbf", 3, ""));
	CHECK(becomes("\xef\xbb\xbf\xef\xbb\xbf" "a", 7, "\xef\xbb\xbf" "a"));
	CHECK(becomes("a\xef\xbb\xbf", 4, "a\xef\xbb\xbf"));
	CHECK(becomes("\xef\xbb", 2, "\xef\xbb"));
	CHECK(becomes("", 0, ""));
}

TEST(utf16_is_refused)
{
	CHECK(!becomes("\xff\xfe" "a\0", 4, ""));
	CHECK(!becomes("\xfe\xff\0a", 4, ""));
	CHECK(!becomes("\xff\xfe\0\0", 4, ""));
	CHECK(becomes("\xff", 1, "\xff"));
}
