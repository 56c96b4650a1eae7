/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/suggest.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 40	/* octets; every word that is offered is shorter */
#define TEXT_SIZE 256	/* octets of a usage error; longer ones are cut */

void
suggest_start(struct suggest *s, const char *wrong)
{
	*s = (struct suggest){ .wrong = wrong };
}

static unsigned int
least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * The number of octets to insert, remove, replace or swap with the next one
 * (optimal string alignment).  Three rows of the table are enough, since a swap
 * looks two rows back.
 */
static unsigned int
distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int rows[3][WORD_MAX + 1];

	for (unsigned int j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (unsigned int i = 1; i <= a_length; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const unsigned int *higher = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(least(row[j - 1], above[j]) + 1,
			    above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = least(row[j], higher[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

void
suggest_offer(struct suggest *s, const char *word, size_t length)
{
	size_t wrong = strlen(s->wrong);
	unsigned int edits, most;

	if (wrong > WORD_MAX || length > WORD_MAX || wrong == 0 || length == 0)
		return;
	/* At most a third of the word: beyond that, all words are alike. */
	most = length < 3 ? 0 : least(3, (unsigned int)(length + 1) / 3);
	edits = distance(s->wrong, wrong, word, length);
	if (edits > most || (s->best != NULL && edits >= s->edits))
		return;
	s->best = word;
	s->length = length;
	s->edits = edits;
}

void
suggest_offer_all(struct suggest *s, const char *words)
{
	while (*(words += strspn(words, " ")) != '\0') {
		size_t length = strcspn(words, " ");

		suggest_offer(s, words, length);
		words += length;
	}
}

const char *
suggest_text(const struct suggest *s, char text[static SUGGEST_TEXT])
{
	text[0] = '\0';
	if (s->best != NULL)
		(void)snprintf(text, SUGGEST_TEXT, ", did you mean \"%.*s\"?",
		    (int)s->length, s->best);
	return text;
}

/* Whether getopt's optopt is an option that exists, but was misused. */
static bool
is_known(const struct option *options)
{
	for (; options->name != NULL; options++)
		if (options->val == optopt)
			return true;
	return false;
}

void
suggest_usage(FILE *out, const char *program, const char *format, ...)
{
	va_list arguments;
	char text[TEXT_SIZE];
	size_t length;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	length = strlen(text);
	(void)fprintf(out, "%s: %s%s %s --help\n", program, text,
	    length > 0 && text[length - 1] == '?' ? " See" : "; see", program);
}

void
suggest_option(FILE *out, const char *program, int returned, char **argv,
    const struct option *options)
{
	const char *word = argv[optind - 1];
	struct suggest s;

	if (returned == ':' || is_known(options)) {
		suggest_usage(out, program, "option \"%s\" %s", word,
		    returned == ':' ? "needs a value" : "takes no value");
		return;
	}
	if (optopt != 0) {
		suggest_usage(out, program, "unknown option \"-%c\"", optopt);
		return;
	}
	suggest_start(&s, word + 2);
	for (; options->name != NULL; options++)
		suggest_offer(&s, options->name, strlen(options->name));
	if (s.best != NULL)
		suggest_usage(out, program,
		    "unknown option \"%s\", did you mean \"--%s\"?", word,
		    s.best);
	else
		suggest_usage(out, program, "unknown option \"%s\"", word);
}
