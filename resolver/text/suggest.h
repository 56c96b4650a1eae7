/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": finds the valid word that is closest to a wrong word.  Words
 * are ASCII; case matters.
 */
#ifndef NFDNS_RESOLVER_TEXT_SUGGEST_H
#define NFDNS_RESOLVER_TEXT_SUGGEST_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

/* Borrows all words.  The members are for suggest.c only. */
struct suggest {
	const char *wrong;
	const char *best;	/* NULL: nothing is close enough */
	size_t length;		/* of best, octets */
	unsigned int edits;	/* from wrong to best */
};

/* Starts with the wrong word, which must outlive the struct. */
void suggest_start(struct suggest *s, const char *wrong);

/*
 * Offers a valid word of "length" octets.  If two are equally close, the first
 * one is suggested.
 */
void suggest_offer(struct suggest *s, const char *word, size_t length);

/* Offers each word of a list that blanks separate. */
void suggest_offer_all(struct suggest *s, const char *words);

/* Room for what suggest_text() writes. */
#define SUGGEST_TEXT 64

/*
 * The end of a message: ", did you mean "WORD"?"; or "" if no word is close
 * enough.
 */
const char *suggest_text(const struct suggest *s, char text[static SUGGEST_TEXT]);

/*
 * Prints a usage error in the one form that all programs have: "PROGRAM: TEXT;
 * see PROGRAM --help".  format is without line end; if it ends with
 * suggest_text(), that stands before " See".  "program" may contain a
 * subcommand, as "nfdns table list".
 */
void suggest_usage(FILE *out, const char *program, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The same after getopt_long(3) returned '?' or ':', such as "unknown option
 * ..., did you mean ...".  opterr must be 0 and the option string begin with
 * ':' (after '+', if there is one).
 */
void suggest_option(FILE *out, const char *program, int returned, char **argv,
    const struct option *options);

#endif
