/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others wrote, for a terminal. */
#include "resolver/text/printable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static bool
is(const char *text, const char *expected)
{
	const size_t whole = strlen(expected);
	char *put = NULL, out[256];
	size_t size = 0;
	FILE *file = open_memstream(&put, &size);
	bool same = file != NULL && printable_put(text, file) == (int)whole &&
	    fclose(file) == 0 && strcmp(put, expected) == 0;

	same = same && printable_text(out, sizeof(out), text, strlen(text)) ==
	    whole && strcmp(out, expected) == 0;
	if (!same)
		printf("# %s\n", put != NULL ? put : "");
	free(put);
	return same;
}

TEST(controls_are_shown)
{
	CHECK(is("", "") && is("plain ~!", "plain ~!"));
	CHECK(is("\033[2J\t\n\r\a", "\\x1b[2J\\x09\\x0a\\x0d\\x07"));
	CHECK(is("\177", "\\x7f"));
	/* C1: CSI and OSC in one character, which xterm obeys in UTF-8. */
	CHECK(is("\xc2\x9b" "2J", "\\xc2\\x9b2J"));
	CHECK(is("\xc2\x9d", "\\xc2\\x9d") && is("\x9b", "\\x9b"));
}

TEST(characters_stay)
{
	CHECK(is("/var/log/müller €", "/var/log/müller €"));
	CHECK(is("\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7"));
	CHECK(is("\xc2\xa0", "\xc2\xa0"));
	/* Overlong, a surrogate, cut off. */
	CHECK(is("\xc0\x9b", "\\xc0\\x9b"));
	CHECK(is("\xed\xa0\x80", "\\xed\\xa0\\x80"));
	CHECK(is("a\xe2\x82", "a\\xe2\\x82"));
}

TEST(hidden_marks_are_shown)
{
	CHECK(is("a\xe2\x80\xae" "b", "a\\xe2\\x80\\xaeb"));	/* RLO */
	CHECK(is("\xe2\x81\xa6", "\\xe2\\x81\\xa6"));		/* LRI */
	CHECK(is("\xef\xbb\xbf", "\\xef\\xbb\\xbf"));		/* BOM */
	CHECK(is("\xe2\x80\x8b\xc2\xad", "\\xe2\\x80\\x8b\\xc2\\xad"));
	CHECK(is("\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"));	/* tag */
}

TEST(small_rooms_hold_whole_characters)
{
	char out[8];

	CHECK(printable_text(out, 1, "ab", 2) == 2 && out[0] == '\0');
	CHECK(printable_text(out, 4, "\033a", 2) == 5 && out[0] == '\0');
	CHECK(printable_text(out, 5, "\033a", 2) == 5);
	CHECK(strcmp(out, "\\x1b") == 0);
	CHECK(printable_text(out, 4, "ab\xc3\xa4", 4) == 4);
	CHECK(strcmp(out, "ab") == 0);
	CHECK(printable_text(out, sizeof(out), "a\0b", 3) == 6);
	CHECK(strcmp(out, "a\\x00b") == 0);
}

/* Pieces end between characters wherever they are. */
TEST(long_texts_are_whole)
{
	char text[1100], expected[sizeof(text)], *put = NULL;
	size_t size = 0;
	FILE *file;

	for (size_t shift = 0; shift < 4; shift++) {
		memset(text, 'a', shift);
		for (size_t i = shift; i + 4 < sizeof(text); i += 4)
			memcpy(text + i, "\xf0\x9f\x90\xa7", 5);
		memcpy(expected, text, sizeof(text));
		file = open_memstream(&put, &size);
		CHECK(file != NULL &&
		    printable_put(text, file) == (int)strlen(text));
		CHECK(fclose(file) == 0 && strcmp(put, expected) == 0);
		free(put);
	}
}

static bool
json_is(const char *text, const char *expected)
{
	char *put = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&put, &size);
	bool same;

	if (file == NULL)
		return false;
	printable_put_json(text, strlen(text), file);
	same = fclose(file) == 0 && strcmp(put, expected) == 0;
	if (!same)
		printf("# %s\n", put);
	free(put);
	return same;
}

TEST(json_means_the_same)
{
	CHECK(json_is("{\"a\": \"ü\\u001b\"}", "{\"a\": \"ü\\u001b\"}"));
	CHECK(json_is("{\"a\":\r\t1}", "{\"a\":  1}"));
	CHECK(json_is("\"\xc2\x9b\177\"", "\"\\u009b\\u007f\""));
	CHECK(json_is("\"\xf3\xa0\x81\x81\"", "\"\\udb40\\udc41\""));
}
