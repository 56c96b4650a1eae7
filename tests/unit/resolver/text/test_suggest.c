/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <string.h>

#include "resolver/text/suggest.h"

/* What is suggested for wrong out of words, or "". */
static const char *
suggested(const char *wrong, const char *words)
{
	static char text[SUGGEST_TEXT], word[SUGGEST_TEXT];
	struct suggest s;

	suggest_start(&s, wrong);
	suggest_offer_all(&s, words);
	(void)suggest_text(&s, text);
	word[0] = '\0';
	(void)sscanf(text, ", did you mean \"%63[^\"]\"?", word);
	return word;
}

TEST(words_that_are_close)
{
	static const struct {
		const char *wrong, *words, *right;
	} rows[] = {
		{ "stauts", "check status rules", "status" },	/* swapped */
		{ "statu", "check status rules", "status" },	/* too few */
		{ "rulles", "check status rules", "rules" },	/* too many */
		{ "chick", "check status rules", "check" },	/* another */
		{ "nmber", "number workers maxlen", "number" },
		{ "--jsn", "--json --help", "--json" },
		{ "lits", "compile list get diff", "list" },
		/* The closer one; the first of two. */
		{ "diff1", "differ diff", "diff" },
		{ "bac", "bab baa", "bab" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(strcmp(suggested(rows[i].wrong, rows[i].words),
		    rows[i].right) == 0);
}

TEST(words_that_are_not)
{
	static const char *const wrong[] = { "nonsense", "x", "", "st",
	    "remove", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(suggested(wrong[i], " check  status rules table reload ")
		    [0] == '\0');
	CHECK(suggested("st", "ab")[0] == '\0');
}

TEST(words_of_any_length)
{
	char word[100];

	for (size_t length = 0; length < sizeof(word); length++) {
		memset(word, 'a', length);
		word[length] = '\0';
		/* Up to the longest, what is equal is found. */
		CHECK((suggested(word, word)[0] != '\0') ==
		    (length >= 1 && length <= 40));
	}
}

/* What "print" writes, or "" for want of memory. */
static char *
usage_error(const char *word)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static char program[] = "p", argument[40], text[200];
	char *argv[] = { program, argument, NULL };
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)snprintf(argument, sizeof(argument), "%s", word);
	optind = opterr = 0;
	suggest_option(out, "p q", getopt_long(2, argv, ":c:h", options, NULL),
	    argv, options);
	(void)fclose(out);
	return text;
}

TEST(usage_errors_have_one_form)
{
	static const struct { const char *word, *text; } rows[] = {
		{ "--confg", "p q: unknown option \"--confg\", did you mean "
		    "\"--config\"? See p q --help\n" },
		{ "--other", "p q: unknown option \"--other\"; see p q --help\n" },
		{ "-x", "p q: unknown option \"-x\"; see p q --help\n" },
		{ "-c", "p q: option \"-c\" needs a value; see p q --help\n" },
		{ "--help=1",
		    "p q: option \"--help=1\" takes no value; see p q --help\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(strcmp(usage_error(rows[i].word), rows[i].text) == 0);
}
