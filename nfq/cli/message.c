/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"

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
