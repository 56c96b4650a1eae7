/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/exit_code.h"
#include "policy/config/config.h"
#include "resolver/text/suggest.h"
#include "resolver/version.h"

static const struct option options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static void
print_usage(FILE *out)
{
	(void)fputs("usage: nfdns [-c FILE] COMMAND [ARGUMENT ...]\n\n", out);
	command_print_list(out);
	(void)fputs("\n"
	    "  -c, --config FILE   configuration (default "
	    CONFIG_DEFAULT_PATH ")\n"
	    "  -h, --help          show this text, or that of a command:\n"
	    "                      nfdns help COMMAND\n"
	    "  -V, --version       show the version, as nfdns version does\n"
	    "\n"
	    "Exit codes: 0 success, 1 error, 2 usage, 3 nfdnsd is not running,\n"
	    "4 invalid configuration or refused reload, 5 running but degraded\n"
	    "(6: only nfdnsd, after a successor has taken over).\n", out);
}

/*
 * Users may write "-c FILE" after the command, too; no command has such an
 * option.  Removes it from the arguments and sets *path.  False if no file
 * follows -c.
 */
static bool
take_path(int *argc, char **argv, const char **path)
{
	static const char equals[] = "--config=";
	int kept = 1;		/* the command itself */

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "-c") == 0 ||
		    strcmp(argv[i], "--config") == 0)
			*path = argv[++i];
		else if (strncmp(argv[i], equals, sizeof(equals) - 1) == 0)
			*path = argv[i] + sizeof(equals) - 1;
		else {
			argv[kept++] = argv[i];
			continue;
		}
		if (*path == NULL)
			return false;
	}
	argv[kept] = NULL;
	*argc = kept;
	return true;
}

/* The exit code; EXIT_ERROR if only writing the output failed. */
static int
finish(int code)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return code;
	if (code != EXIT_OK)
		return code;
	cli_error("cannot write the output: %s", strerror(errno));
	return EXIT_ERROR;
}

int
main(int argc, char **argv)
{
	static char help[] = "--help";
	const char *path = NULL;
	int option;

	/* "+": options behind the command belong to the command. */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:c:hV", options,
	    NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			break;
		case 'h':
			print_usage(stdout);
			return finish(EXIT_OK);
		case 'V':
			(void)puts("nfdns " NFDNS_VERSION);
			return EXIT_OK;
		default:
			suggest_option(stderr, "nfdns", option, argv, options);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	argc -= optind;
	argv += optind;
	if (strcmp(argv[0], "version") == 0 && argc == 1) {
		(void)puts("nfdns " NFDNS_VERSION);
		return EXIT_OK;
	}
	if (strcmp(argv[0], "help") == 0 && argc == 1) {
		print_usage(stdout);
		return finish(EXIT_OK);
	}
	/* "help COMMAND" is "COMMAND --help". */
	if (strcmp(argv[0], "help") == 0 && argc == 2) {
		argv[0] = argv[1];
		argv[1] = help;
	}
	if (!take_path(&argc, argv, &path)) {
		suggest_usage(stderr, "nfdns", "option \"-c\" needs a value");
		return EXIT_USAGE;
	}
	return finish(command_run(path, argc, argv));
}
