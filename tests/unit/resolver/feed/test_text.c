/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a peer says, and what a log shows of it. */
#include "resolver/feed/text.h"

#include <stdbool.h>
#include <string.h>

#include "tests/check.h"

static bool
becomes(const char *from, const char *to)
{
	char out[64];

	feed_text_clean(out, sizeof(out), from, strlen(from));
	return strcmp(out, to) == 0;
}

TEST(printable_stays)
{
	CHECK(becomes("plain text, 100%", "plain text, 100%"));
	CHECK(becomes("\xe7\xb3\xbb\xe7\xbb\x9f", "\xe7\xb3\xbb\xe7\xbb\x9f"));
	CHECK(becomes("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"));
	CHECK(becomes("", ""));
}

TEST(controls_go)
{
	CHECK(becomes("a\nb\tc\033[31md\177", "a?b?c?[31md?"));
	CHECK(becomes("a\xc2\x9b" "b", "a?b"));		/* C1: CSI */
	CHECK(becomes("a\xe2\x80\xae" "b", "a?b"));	/* turned round */
	CHECK(becomes("a\xe2\x80\xa8" "b", "a?b"));	/* a line's end */
}

TEST(malformed_utf8_goes)
{
	CHECK(becomes("a\xff" "b", "a?b"));
	CHECK(becomes("a\xc3", "a?"));
	CHECK(becomes("\xc0\x8a", "??"));		/* overlong */
	CHECK(becomes("\xed\xa0\x80", "???"));		/* a surrogate */
	CHECK(becomes("\xf4\x90\x80\x80", "????"));
	CHECK(becomes("\xe7\xb3" "b", "??b"));
}

TEST(nothing_is_cut_within_a_character)
{
	char out[4];

	feed_text_clean(out, sizeof(out), "a\xe7\xb3\xbb", 4);
	CHECK(strcmp(out, "a") == 0);
	feed_text_clean(out, sizeof(out), "\xe7\xb3\xbb" "b", 4);
	CHECK(strcmp(out, "\xe7\xb3\xbb") == 0);
	feed_text_clean(out, sizeof(out), "\n\n\n\n\n", 5);
	CHECK(strcmp(out, "???") == 0);
	feed_text_clean(out, 1, "abc", 3);
	CHECK(*out == '\0');
}

TEST(every_cause_has_a_name)
{
	for (int i = 0; i < FEED_CAUSES; i++)
		CHECK(feed_cause_name((enum feed_cause)i) != NULL &&
		    strcmp(feed_cause_name((enum feed_cause)i), "unknown") != 0);
}
