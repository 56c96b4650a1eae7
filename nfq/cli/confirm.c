/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"

static bool
ask(void)
{
	char line[16];

	(void)fputs("Do this? [y/N] ", stdout);
	(void)fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL &&
	    (line[0] == 'y' || line[0] == 'Y');
}

bool
confirm(const char *command, bool yes, bool dry_run, int *code)
{
	*code = dry_run ? EXIT_OK : EXIT_ERROR;
	if (dry_run) {
		(void)puts("Nothing was done (--dry-run).");
		return false;
	}
	if (yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		cli_error("%s: nothing was done: no terminal to ask on; say "
		    "--yes", command);
		return false;
	}
	if (ask())
		return true;
	(void)puts("Nothing was done.");
	return false;
}
