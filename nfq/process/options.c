/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/exit_code.h"

#include <stdio.h>
#include <string.h>

#include "resolver/text/suggest.h"

int
options_next(const struct options *options, int argc, char **argv, int *code)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, options->letters, options->all, NULL);
	*code = EXIT_OK;
	switch (option) {
	case -1:
		if (optind == argc)
			return OPTIONS_DONE;
		suggest_usage(stderr, options->name, "unknown argument \"%s\"",
		    argv[optind]);
		*code = EXIT_USAGE;
		return OPTIONS_EXIT;
	case 'h':
		(void)fputs(options->usage, stdout);
		return OPTIONS_EXIT;
	case 'V':
		(void)puts(options->version);
		return OPTIONS_EXIT;
	case '?':
	case ':':
		suggest_option(stderr, options->name, option, argv,
		    options->all);
		*code = EXIT_USAGE;
		return OPTIONS_EXIT;
	default:
		return option;
	}
}

int
options_by_hand(const char *usage, const char *version, int argc, char **argv)
{
	const char *word = argc == 2 ? argv[1] : "";

	if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
		(void)puts(version);
		return EXIT_OK;
	}
	if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
		(void)fputs(usage, stdout);
		return EXIT_OK;
	}
	(void)fputs(usage, stderr);
	return EXIT_USAGE;
}
