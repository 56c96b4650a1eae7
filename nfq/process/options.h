/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a daemon: what all of them do alike about it. */
#ifndef NFDNS_NFQ_PROCESS_OPTIONS_H
#define NFDNS_NFQ_PROCESS_OPTIONS_H

#include <getopt.h>

/* Texts and options of one program; borrowed, for as long as it runs. */
struct options {
	const char *name;		/* for messages: "nfdnsd" */
	const char *usage;		/* what --help prints, lines whole */
	const char *version;		/* what --version prints, no line end */
	const char *letters;		/* of getopt_long(3); begin with ':' */
	/* 'h' and 'V' among them, which are --help and --version. */
	const struct option *all;
};

/* What options_next() returns besides the letter of an option. */
enum {
	OPTIONS_DONE = 0,		/* no more of them, nor anything else */
	OPTIONS_EXIT = -1,		/* main() returns *code */
};

/*
 * The next option of argv that only this program knows: its letter, and its value
 * in optarg.  It answers --help and --version itself, on stdout, and reports an
 * unknown option or any argument on stderr: then it is OPTIONS_EXIT, and *code an
 * enum exit_code.
 */
int options_next(const struct options *options, int argc, char **argv, int *code);

/*
 * For a program that nfdnsd starts with arguments of its own (nfq/tls/start.c), after
 * program_values() said that these are others: a person runs it.  Answers
 * --help or --version on stdout if that is the one argument, else prints the
 * usage on stderr.  What main() returns.
 */
int options_by_hand(const char *usage, const char *version, int argc,
    char **argv);

#endif
