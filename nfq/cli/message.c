/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"

void
cli_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_print_error("nfdns", stderr, format, arguments);
	va_end(arguments);
}

void
cli_waits_for(const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what != NULL)
		(void)fprintf(stderr, "nfdns: %s ...", what);
	else
		(void)fputs("\r\033[K", stderr);	/* ECMA-48: erase the line */
	(void)fflush(stderr);
}

bool
cli_has_colour(int fd)
{
	return isatty(fd) && getenv("NO_COLOR") == NULL;
}

unsigned int
cli_columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
	    size.ws_col > 80)
		return 80;
	return size.ws_col < 40 ? 40 : size.ws_col;
}

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
