/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "policy/config/config.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/suggest.h"
#include "nfq/cli/rules.h"

/* What a subcommand needs of the configuration. */
enum need {
	NEED_VALID,
	NEED_RUN_DIR,		/* looks at a running daemon: goes on without */
};

static const struct command {
	const char *name;
	int (*run)(const struct config *config, int argc, char **argv);
	enum need need;
	const char *words;	/* its arguments; of table, only the first */
	const char *summary;
} commands[] = {
	{ "check", cmd_check, NEED_VALID, "--strict --defaults",
	  "configuration and tables, every error at once" },
	{ "status", cmd_status, NEED_RUN_DIR, "--json",
	  "how the running daemon is [--json]" },
	{ "rules", cmd_rules, NEED_VALID, "print verify absent sweep",
	  "the nftables rules: print, or verify the kernel's" },
	{ "table", cmd_table_here, NEED_VALID,
	  "compile list get addresses diff",
	  "the mesh table: compile, list, get, addresses, diff" },
	{ "reload", cmd_reload, NEED_VALID, "--force",
	  "have the daemon load configuration and tables anew" },
};

static const char default_path[] = CONFIG_DEFAULT_PATH;

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
	    "configuration or refused reload, 5 running but degraded (6 is\n"
	    "nfdnsd's own: a successor goes on).\n", out);
}

/* NULL after a message if there is none of that name. */
static const struct command *
find_command(const char *name)
{
	char text[SUGGEST_TEXT];
	struct suggest s;

	suggest_start(&s, name);
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		suggest_offer(&s, commands[i].name, strlen(commands[i].name));
	}
	(void)suggest_text(&s, text);
	(void)fprintf(stderr, "nfdns: unknown command \"%s\"%s nfdns --help "
	    "lists them\n", name, text[0] != '\0' ? text : ":");
	return NULL;
}

/* Whether word is one of those between blanks. */
static bool
is_among(const char *word, const char *words)
{
	size_t length = strlen(word);

	while (*(words += strspn(words, " ")) != '\0') {
		size_t next = strcspn(words, " ");

		if (next == length && strncmp(words, word, length) == 0)
			return true;
		words += next;
	}
	return false;
}

/*
 * Whether the arguments are such as the command has, else a message: before
 * the configuration is read, which may be broken or not there.
 */
static bool
check_words(const struct command *command, int argc, char **argv)
{
	const int last = command->run == cmd_table_here && argc > 2 ? 2 : argc;
	char text[SUGGEST_TEXT];
	struct suggest s;

	for (int i = 1; i < last; i++) {
		if (is_among(argv[i], "-h --help") ||
		    is_among(argv[i], command->words))
			continue;
		suggest_start(&s, argv[i]);
		suggest_offer_all(&s, command->words);
		suggest_offer_all(&s, "--help");
		(void)suggest_text(&s, text);
		(void)fprintf(stderr, "nfdns: %s: unknown argument \"%s\"%s "
		    "nfdns %s --help says more\n", command->name, argv[i],
		    text[0] != '\0' ? text : ":", command->name);
		return false;
	}
	return true;
}

/* Whether one of the arguments is that word, in its short or long form. */
static bool
has_word(int argc, char **argv, const char *shorter, const char *longer)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], shorter) == 0 ||
		    strcmp(argv[i], longer) == 0)
			return true;
	return false;
}

/* Whether all tables that are asked about come from elsewhere. */
static bool
has_all_tables(int argc, char **argv)
{
	const bool diff = argc > 1 && strcmp(argv[1], "diff") == 0;
	int tables = 0;

	for (int i = 1; i < argc; i++)
		tables += strcmp(argv[i], "-i") == 0 ||
		    strncmp(argv[i], "--image", 7) == 0 ||
		    strcmp(argv[i], "-r") == 0 ||
		    strcmp(argv[i], "--running") == 0;
	return tables > (diff ? 1 : 0);
}

/* Whether the arguments ask for what no configuration is needed for. */
static bool
needs_nothing(const struct command *command, int argc, char **argv)
{
	if (has_word(argc, argv, "-h", "--help"))
		return true;
	if (command->run == cmd_check)
		return has_word(argc, argv, "--defaults", "--defaults");
	if (command->run == cmd_rules)
		return has_word(argc, argv, "absent", "sweep");
	return command->run == cmd_table_here &&
	    (argc == 1 || has_all_tables(argc, argv));
}

/* Whether they are about the daemon, which the configuration leads to. */
static bool
asks_daemon(const struct command *command, int argc, char **argv)
{
	return !has_word(argc, argv, "-h", "--help") &&
	    (command->need == NEED_RUN_DIR ||
	    has_word(argc, argv, "-r", "--running"));
}

/*
 * Whether a configuration that was named, other than the default one, is there.
 * Else the daemon that we would look for is not the one that is meant.
 */
static bool
is_there(const char *path)
{
	if (path == default_path || access(path, R_OK) == 0)
		return true;
	(void)fprintf(stderr, "nfdns: error: %s: cannot be opened: %s; name "
	    "the configuration file with -c\n", path, strerror(errno));
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

/* That a reload was wanted, and the configuration is invalid. */
static void
tell_daemon(const char *path)
{
	char *run_dir = config_peek_run_dir(path);

	if (run_dir != NULL)
		cmd_reload_refused(run_dir);
	free(run_dir);
}

static int
run(const struct command *command, const char *path, int argc, char **argv)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	int error, code;

	if (!check_words(command, argc, argv))
		return EXIT_USAGE;
	if (asks_daemon(command, argc, argv) && !is_there(path))
		return EXIT_INVALID;
	if (command->need == NEED_RUN_DIR || needs_nothing(command, argc, argv))
		return run_without(command, path, argc, argv);
	error = config_load(&config, path, &diag);
	/* The daemon finds the same warnings, and they come back from there. */
	if (error < 0 || command->run != cmd_reload)
		diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (error < 0) {
		if (command->run == cmd_reload)
			tell_daemon(path);
		return EXIT_INVALID;
	}
	code = command->run(config, argc, argv);
	config_free(config);
	return code;
}

/*
 * "-c FILE" may stand behind the command too, where no option has that name.
 * Takes it out of the arguments; returns the path that holds, NULL if there is
 * none behind -c.
 */
static const char *
take_path(int *argc, char **argv, const char *path)
{
	static const char equals[] = "--config=";
	int kept = 1;		/* the command itself */

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "-c") == 0 ||
		    strcmp(argv[i], "--config") == 0)
			path = argv[++i];
		else if (strncmp(argv[i], equals, sizeof(equals) - 1) == 0)
			path = argv[i] + sizeof(equals) - 1;
		else
			argv[kept++] = argv[i];
		if (path == NULL)
			return NULL;
	}
	argv[kept] = NULL;
	*argc = kept;
	return path;
}

/* The exit code, unless all went well but for the output. */
static int
finish(int code)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return code;
	if (code != EXIT_OK)
		return code;
	(void)fprintf(stderr, "nfdns: cannot write the output: %s\n",
	    strerror(errno));
	return EXIT_ERROR;
}

int
main(int argc, char **argv)
{
	const char *path = default_path;
	const struct command *command;
	int option;

	compiler_enter(argc, argv);
	/* "+": options behind the command are the command's. */
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
			print_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	command = find_command(argv[optind]);
	if (command == NULL)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	path = take_path(&argc, argv, path);
	if (path == NULL) {
		(void)fprintf(stderr, "nfdns: no file behind -c: nfdns --help "
		    "says more\n");
		return EXIT_USAGE;
	}
	return finish(run(command, path, argc, argv));
}
