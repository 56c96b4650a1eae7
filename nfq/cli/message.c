/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

int
cli_no_daemon(const char *command, const char *run_dir, int error)
{
	if (error == -ENOENT || error == -ESRCH) {
		cli_error("%s: nfdnsd is not running: run_dir \"%s\" has no "
		    "status page of a running daemon; start nfdnsd, or name its "
		    "configuration with -c", command, run_dir);
		return EXIT_NOT_RUNNING;
	}
	cli_error("%s: cannot read the status page in run_dir \"%s\": %s",
	    command, run_dir, error == -EPROTO ?
	    "it is cut off, or of another version of nfdnsd; restart nfdnsd" :
	    strerror(-error));
	return EXIT_ERROR;
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
