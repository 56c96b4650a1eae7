/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the commands of nfdns, for the lint that compares manual pages and
 * completions with them: command_print_tables().
 */
#include <stdio.h>

#include "nfq/cli/commands.h"

int
main(void)
{
	command_print_tables(stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
