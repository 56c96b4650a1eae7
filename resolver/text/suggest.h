/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": of the words that would be right, the one that a wrong word
 * is closest to.  Words are ASCII; case counts.
 */
#ifndef NFDNS_RESOLVER_TEXT_SUGGEST_H
#define NFDNS_RESOLVER_TEXT_SUGGEST_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

/* Borrows all words; not to be looked into. */
struct suggest {
	const char *wrong;
	const char *best;	/* NULL: nothing is close enough */
	size_t length;		/* of best, octets */
	unsigned int edits;	/* that lead from one to the other */
};

/* For this wrong word, which has to stay as long as the struct is in use. */
void suggest_start(struct suggest *s, const char *wrong);

/*
 * Offers a right word of so many octets.  Of two that are equally close the
 * first one stays.
 */
void suggest_offer(struct suggest *s, const char *word, size_t length);

/* Offers each of the words between blanks. */
void suggest_offer_all(struct suggest *s, const char *words);

/* Room for what suggest_text() writes. */
#define SUGGEST_TEXT 64

/*
 * ", did you mean "WORD"?" for the end of a message, or "" if nothing comes
 * close.
 */
const char *suggest_text(const struct suggest *s, char text[static SUGGEST_TEXT]);

/*
 * The line for what getopt_long(3) has just returned, '?' or ':', with opterr 0
 * and a ':' first in its letters: "PROGRAM: unknown option ..., did you mean".
 */
void suggest_option(FILE *out, const char *program, int returned, char **argv,
    const struct option *options);

#endif
