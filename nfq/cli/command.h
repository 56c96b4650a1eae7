/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the subcommand that a command line names, and runs it. */
#ifndef NFDNS_NFQ_CLI_COMMAND_H
#define NFDNS_NFQ_CLI_COMMAND_H

#include <stdio.h>

/* One line for each command: its name and what it does. */
void command_print_list(FILE *out);

/*
 * Runs the command argv[0] with the arguments behind it.  path is the
 * configuration file, NULL for the default one; it is read only if the
 * subcommand needs it.  Returns the exit code; errors are on stderr.
 */
int command_run(const char *path, int argc, char **argv);

#endif
