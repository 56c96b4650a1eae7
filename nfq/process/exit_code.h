/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the programs and the worker process exit.  In this room because every
 * other room of nfq may use it.
 */
#ifndef NFDNS_NFQ_PROCESS_EXIT_CODE_H
#define NFDNS_NFQ_PROCESS_EXIT_CODE_H

#include <getopt.h>
#include <stdint.h>

#include "policy/config/config.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_RUNNING = 3,
	EXIT_INVALID = 4,	/* invalid config, refused reload */
	EXIT_DEGRADED = 5,	/* running but degraded; rules differ */
	EXIT_HANDED_OVER = 6,	/* nfdnsd after SIGQUIT: a successor takes over */
};

/* The worker's exit status, of which the supervisor has more to say. */
enum worker_exit {
	WORKER_DONE = 0,
	WORKER_FAILED = 1,		/* it has logged why */
	WORKER_NO_PRIVILEGE = 10,	/* the kernel refuses our verdicts */
	WORKER_BAD_IMAGE = 11,
};

/* state_dir/start.error: why the last start failed, for whoever has no journal. */

#define START_ERROR_TEXT 300

/* Writes a line, or removes the file if "why" is NULL.  That it fails is not told. */
void start_error_write(const struct config *config, const char *why);

/*
 * Reads the line; "" if the last start did not fail, or if another user wrote
 * it.  Returns when it was written, CLOCK_REALTIME seconds.
 */
int64_t start_error_read(const struct config *config,
    char why[static START_ERROR_TEXT]);

/* The command line of a daemon: what all of them do alike about it. */

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
