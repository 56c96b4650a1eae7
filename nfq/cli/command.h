/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the subcommand that a command line names. */
#ifndef NFDNS_NFQ_CLI_COMMAND_H
#define NFDNS_NFQ_CLI_COMMAND_H

#include <stdio.h>

/* Prints one line for each command: its name and what it does. */
void command_print_list(FILE *out);

/*
 * Runs the command argv[0] with the arguments after it.  path is the
 * configuration file, NULL for the default one; it is read only if the
 * subcommand needs it.  Returns the exit code; errors go to stderr.
 */
int command_run(const char *path, int argc, char **argv);

#endif
