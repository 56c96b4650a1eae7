/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/commands.h"
#include "nfq/compiler.h"
#include "nfq/report.h"
#include "policy/config.h"
#include "resolver/exit_code.h"
#include "rules/cmd_rules.h"

/* What a subcommand needs of the configuration. */
enum need {
	NEED_VALID,
	NEED_RUN_DIR,		/* looks at a running daemon: goes on without */
};

static const struct command {
	const char *name;
	int (*run)(const struct config *config, int argc, char **argv);
	enum need need;
	const char *summary;
} commands[] = {
	{ "check", cmd_check, NEED_VALID,
	  "configuration and tables, every error at once" },
	{ "status", cmd_status, NEED_RUN_DIR,
	  "how the running daemon is [--json]" },
	{ "rules", cmd_rules, NEED_VALID,
	  "the nftables rules: print, or verify the kernel's" },
	{ "table", cmd_table_here, NEED_VALID,
	  "the mesh table: compile, list, get, addresses, diff" },
	{ "reload", cmd_reload, NEED_VALID,
	  "have the daemon load configuration and tables anew" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

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
	for (size_t i = 0; i < COMMANDS; i++)
		(void)fprintf(out, "  %-8s %s\n", commands[i].name,
		    commands[i].summary);
	(void)fputs("\n"
	    "  -c, --config FILE   configuration (default "
	    CONFIG_DEFAULT_PATH ")\n"
	    "  -h, --help          this text; nfdns COMMAND --help for more\n"
	    "  -V, --version       the version\n"
	    "\n"
	    "Exit codes: 0 fine, 1 error, 2 usage, 3 not running, 4 invalid\n"
	    "configuration or refused reload, 5 running but degraded.\n", out);
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Whether all tables that are asked about come from elsewhere. */
static bool
has_all_tables(int argc, char **argv)
{
	const bool diff = argc > 1 && strcmp(argv[1], "diff") == 0;
	int tables = 0;

	if (strcmp(argv[0], "table") != 0)
		return false;
	for (int i = 1; i < argc; i++)
		tables += strcmp(argv[i], "-i") == 0 ||
		    strncmp(argv[i], "--image", 7) == 0 ||
		    strcmp(argv[i], "-r") == 0 ||
		    strcmp(argv[i], "--running") == 0;
	return tables > (diff ? 1 : 0);
}

/* Whether the arguments ask for what no configuration is needed for. */
static bool
needs_nothing(int argc, char **argv)
{
	if (has_all_tables(argc, argv))
		return true;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0 ||
		    strcmp(argv[i], "--defaults") == 0 ||
		    strcmp(argv[i], "absent") == 0 ||	/* rules */
		    strcmp(argv[i], "sweep") == 0)
			return true;
	return false;
}

/* With no more of a configuration than where the daemon is. */
static int
run_without(const struct command *command, const char *path, int argc,
    char **argv)
{
	struct config *config = calloc(1, sizeof(*config));
	int code = EXIT_ERROR;

	if (config != NULL)
		config->run_dir = config_peek_run_dir(path);
	if (config == NULL || config->run_dir == NULL)
		(void)fputs("nfdns: out of memory\n", stderr);
	else
		code = command->run(config, argc, argv);
	config_free(config);
	return code;
}

static int
run(const struct command *command, const char *path, int argc, char **argv)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	int error, code;

	if (command->need == NEED_RUN_DIR || needs_nothing(argc, argv))
		return run_without(command, path, argc, argv);
	error = config_load(&config, path, &diag);
	report_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (error < 0)
		return EXIT_INVALID;
	code = command->run(config, argc, argv);
	config_free(config);
	return code;
}

int
main(int argc, char **argv)
{
	const char *path = CONFIG_DEFAULT_PATH;
	const struct command *command;
	int option;

	compiler_enter(argc, argv);
	/* "+": options behind the command are the command's. */
	while ((option = getopt_long(argc, argv, "+c:hV", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			break;
		case 'h':
			print_usage(stdout);
			return EXIT_OK;
		case 'V':
			(void)puts("nfdns " NFDNS_VERSION);
			return EXIT_OK;
		default:
			print_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	command = find_command(argv[optind]);
	if (command == NULL) {
		(void)fprintf(stderr, "nfdns: unknown command \"%s\": nfdns "
		    "--help lists them\n", argv[optind]);
		return EXIT_USAGE;
	}
	return run(command, path, argc - optind, argv + optind);
}
