/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/span.h"
#include "tests/check.h"

static bool
utf8(const char *text, size_t length)
{
	return span_is_utf8((struct span){ text, length });
}

#define UTF8(literal) utf8(literal, sizeof(literal) - 1)

TEST(what_is_utf8)
{
	CHECK(UTF8("") && UTF8("a") && UTF8("reviews.shop.svc.cluster.local"));
	CHECK(UTF8("\0"));
	CHECK(UTF8("\xc2\x80") && UTF8("\xdf\xbf"));
	CHECK(UTF8("\xe0\xa0\x80") && UTF8("\xed\x9f\xbf"));
	CHECK(UTF8("\xee\x80\x80") && UTF8("\xef\xbf\xbf"));
	CHECK(UTF8("\xf0\x90\x80\x80") && UTF8("\xf4\x8f\xbf\xbf"));
	CHECK(UTF8("12345678\xc3\xa9" "1234567890"));
}

TEST(what_is_not)
{
	/* Continuation without a beginning, overlong, surrogate, too large. */
	CHECK(!UTF8("\x80") && !UTF8("\xbf") && !UTF8("\xff") && !UTF8("\xfe"));
	CHECK(!UTF8("\xc0\x80") && !UTF8("\xc1\xbf") && !UTF8("\xe0\x9f\xbf"));
	CHECK(!UTF8("\xf0\x8f\xbf\xbf"));
	CHECK(!UTF8("\xed\xa0\x80") && !UTF8("\xed\xbf\xbf"));
	CHECK(!UTF8("\xf4\x90\x80\x80") && !UTF8("\xf5\x80\x80\x80"));
	/* Cut off, and a letter where an octet should go on. */
	CHECK(!UTF8("\xc2") && !UTF8("\xe0\xa0") && !UTF8("\xf0\x90\x80"));
	CHECK(!UTF8("\xc2" "a") && !UTF8("\xe1\x80" "a"));
	/* At each place of a text that is looked at eight octets at a time. */
	for (size_t i = 0; i < 24; i++) {
		char text[24];

		memset(text, 'x', sizeof(text));
		text[i] = '\x80';
		CHECK(!utf8(text, sizeof(text)));
		CHECK(utf8(text, i));
	}
}

TEST(equality)
{
	CHECK(span_equal(span_of("ab"), span_of("ab")));
	CHECK(!span_equal(span_of("ab"), span_of("ac")));
	CHECK(!span_equal(span_of("ab"), span_of("abc")));
	CHECK(span_equal(span_of(""), (struct span){ NULL, 0 }));
}
