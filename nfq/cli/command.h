/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the subcommand that a command line names. */
#ifndef NFDNS_NFQ_CLI_COMMAND_H
#define NFDNS_NFQ_CLI_COMMAND_H

#include <stdio.h>

/* Prints one line for each command: its name and what it does. */
void command_print_list(FILE *out);

/*
 * Prints all commands, their words and their options, a line for each with tabs
 * between the fields, for tests/tools/tables.c:
 *
 *	command NAME SUMMARY
 *	word NAME WORD			a word that may follow it
 *	option NAME WORD LONG LETTER ARGUMENT	"-" is no letter; 1: has a value
 */
void command_print_tables(FILE *out);

/*
 * Runs the command argv[0] with the arguments after it.  path is the
 * configuration file, NULL for the default one; it is read only if the
 * subcommand needs it.  Returns the exit code; errors go to stderr.
 */
int command_run(const char *path, int argc, char **argv);

#endif
