/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a subcommand: a table of them, and the loop that reads them.
 * The table of commands has these tables, and completions and nfdns(8) are
 * compared with them: tests/lint/test_manual.  --help is no row: command.c
 * answers it.
 */
#ifndef NFDNS_NFQ_CLI_COMMAND_OPTIONS_H
#define NFDNS_NFQ_CLI_COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define COMMAND_OPTIONS_MOST 15

/* Written with the macros below; a table ends with a row without name. */
struct command_option {
	const char *name;		/* "json" of --json */
	char letter;			/* 0: none */
	bool valued;			/* a value follows it */
	/* Of a member of the command's struct: bool; if valued, const char *. */
	size_t offset;
	/*
	 * NULL, or takes the value instead, NULL if the option is not valued.
	 * Returns NULL, or what is wrong with the value.
	 */
	const char *(*read)(void *to, const char *value);
};

/* Sets a bool. */
#define OPTION_FLAG(name, letter, type, member) { name, letter, false, \
	_Generic(((type *)0)->member, bool: offsetof(type, member)), NULL }

/* Points to the value, which argv owns. */
#define OPTION_TEXT(name, letter, type, member) { name, letter, true, \
	_Generic(((type *)0)->member, const char *: offsetof(type, member)), \
	NULL }

#define OPTION_READ(name, letter, read) { name, letter, true, 0, read }

/*
 * Reads the options of argv into the command's struct, and moves the other words
 * behind them; argv[0] is skipped.  Returns the index of the first of the other
 * words, argc if there is none.  -1 after a message to stderr as of "program",
 * such as "nfdns join": an option is unknown, lacks a value, has one too
 * many, or a wrong one.
 */
int command_options_read(const struct command_option *table,
    const char *program, void *to, int argc, char **argv);

/* The same where no other word may be.  False after a message. */
bool command_options_only(const struct command_option *table,
    const char *program, void *to, int argc, char **argv);

/* Whether one of the words is --help or -h. */
bool command_options_ask_help(int argc, char **argv);

#endif
