/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/config.h"
#include "resolver/text/given.h"
#include "resolver/text/suggest.h"

/* What a subcommand needs; --help names it in this order. */
enum {
	NEED_CONFIG = 1,	/* a valid configuration file */
	NEED_DAEMON = 2,	/* a running daemon, which run_dir leads to */
	NEED_ROOT = 4,		/* root, or the capability that stands for it */
	ARGUMENTS = 8,		/* no need: it reads its arguments itself */
	MAY_ASK = 16,		/* nor this: a daemon, with an option */
};

static const char *const needs[] = { "a valid configuration",
	"a running daemon", "root" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct command {
	const char *name;
	const char *word;	/* the word after it; NULL: none */
	int (*run)(const struct config *config, int argc, char **argv);
	unsigned int need;
	const struct command_option *options;	/* NULL: --help and -c only */
} commands[] = {
	{ "check", NULL, cmd_check, ARGUMENTS, check_options },
	{ "status", NULL, cmd_status, NEED_DAEMON | ARGUMENTS, status_options },
	{ "explain", NULL, cmd_explain,
	  NEED_CONFIG | ARGUMENTS, explain_options },
	{ "ask", NULL, cmd_ask, NEED_CONFIG | ARGUMENTS, ask_options },
	{ "metrics", NULL, cmd_metrics, NEED_DAEMON, NULL },
	{ "metrics", "--openmetrics", cmd_metrics_open, NEED_DAEMON, NULL },
	{ "metrics", "--http", cmd_metrics_http, NEED_DAEMON, NULL },
	{ "top", NULL, cmd_top, NEED_DAEMON | ARGUMENTS, top_options },
	{ "rules", NULL, cmd_rules_print, NEED_CONFIG, NULL },
	{ "rules", "print", cmd_rules_print, NEED_CONFIG, NULL },
	{ "rules", "verify", cmd_rules_verify,
	  NEED_CONFIG | NEED_ROOT | ARGUMENTS, rules_options },
	{ "rules", "absent", cmd_rules_absent, NEED_ROOT, NULL },
	{ "rules", "sweep", cmd_rules_sweep, NEED_ROOT, NULL },
	{ "table", NULL, cmd_table, 0, NULL },
	{ "table", "list", cmd_table_list, MAY_ASK | ARGUMENTS, table_options },
	{ "table", "get", cmd_table_get, MAY_ASK | ARGUMENTS, table_options },
	{ "cache", NULL, cmd_cache, NEED_DAEMON | NEED_ROOT, cache_options },
	{ "cache", "--json", cmd_cache,
	  NEED_DAEMON | NEED_ROOT, cache_options },
	{ "cache", "stats", cmd_cache,
	  NEED_DAEMON | NEED_ROOT | ARGUMENTS, cache_options },
	{ "cache", "list", cmd_cache,
	  NEED_DAEMON | NEED_ROOT | ARGUMENTS, cache_options },
	{ "cache", "get", cmd_cache,
	  NEED_DAEMON | NEED_ROOT | ARGUMENTS, cache_options },
	{ "cache", "flush", cmd_cache,
	  NEED_DAEMON | NEED_ROOT | ARGUMENTS, cache_flush_options },
	{ "doctor", NULL, cmd_doctor, ARGUMENTS, doctor_options },
	{ "log", NULL, cmd_log, ARGUMENTS, log_options },
	{ "log", "verify", cmd_log_verify, ARGUMENTS, NULL },
	{ "reload", NULL, cmd_reload,
	  NEED_DAEMON | NEED_ROOT | ARGUMENTS, reload_options },
	{ "pause", NULL, cmd_pause, NEED_DAEMON | NEED_ROOT | ARGUMENTS, NULL },
	{ "resume", NULL, cmd_resume, NEED_DAEMON | NEED_ROOT, NULL },
	{ "join", NULL, cmd_join,
	  NEED_CONFIG | NEED_ROOT | ARGUMENTS, join_options },
	{ "join", "--print-manifest", cmd_join_manifest, 0, NULL },
	{ "leave", NULL, cmd_leave,
	  NEED_CONFIG | NEED_ROOT | ARGUMENTS, leave_options },
};

/* The commands' help. */
static const struct {
	const char *name, *summary, *usage;
} texts[] = {
	{ "check", "check configuration and tables, report all errors",
	  check_usage },
	{ "status", "show the daemon's state", status_usage },
	{ "explain", "show what happens to a question, and why",
	  explain_usage },
	{ "ask", "ask, and show the answer beside what explain says", ask_usage },
	{ "metrics", "print the daemon's numbers for Prometheus", metrics_usage },
	{ "top", "show what is asked, each second", top_usage },
	{ "rules", "print the nftables rules, or verify the kernel's",
	  rules_usage },
	{ "table", "mesh tables: list, get", table_usage },
	{ "cache", "answers that forwarding keeps: list, get, flush",
	  cache_usage },
	{ "join", "connect to a mesh's or a cluster's control plane",
	  join_usage },
	{ "leave", "undo what join did", leave_usage },
	{ "doctor", "look at what decides whether names are resolved",
	  doctor_usage },
	{ "log", "print packet logs; verify: say what is missing in one",
	  log_usage },
	{ "reload", "make the daemon load configuration and tables again",
	  reload_usage },
	{ "pause", "let every question pass for a while", pause_usage },
	{ "resume", "end the pause", pause_usage },
};

void
command_print_list(FILE *out)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		(void)fprintf(out, "  %-8s %s\n", texts[i].name,
		    texts[i].summary);
}

static void
print_options(const struct command *command, const char *word, FILE *out)
{
	const struct command_option *o = command->options;

	for (; o->name != NULL; o++)
		(void)fprintf(out, "option\t%s\t%s\t%s\t%c\t%d\n",
		    command->name, word, o->name,
		    o->letter != 0 ? o->letter : '-', o->valued);
}

void
command_print_tables(FILE *out)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		(void)fprintf(out, "command\t%s\t%s\n", texts[i].name,
		    texts[i].summary);
	for (size_t i = 0; i < COUNT(commands); i++) {
		const struct command *c = &commands[i];
		const bool option = c->word != NULL && c->word[0] == '-';
		const char *word = c->word != NULL && !option ? c->word : "";

		if (option)
			(void)fprintf(out, "option\t%s\t\t%s\t-\t0\n",
			    c->name, c->word + 2);
		else if (c->word != NULL)
			(void)fprintf(out, "word\t%s\t%s\n", c->name, word);
		if (c->options != NULL)
			print_options(c, word, out);
	}
}

static bool
is_help(const char *word)
{
	return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

/* The row of a command line's first two words, or NULL. */
static const struct command *
find_row(const char *name, const char *word)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0 &&
		    text_is_same(commands[i].word, word))
			return &commands[i];
	return NULL;
}

static void
refuse_word(const char *name, const char *word)
{
	char text[SUGGEST_TEXT], program[32];
	struct suggest s;

	suggest_start(&s, word);
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0 &&
		    commands[i].word != NULL)
			suggest_offer(&s, commands[i].word,
			    strlen(commands[i].word));
	suggest_offer_all(&s, "--help");
	(void)snprintf(program, sizeof(program), "nfdns %s", name);
	suggest_usage(stderr, program, "unknown argument \"%s\"%s", word,
	    suggest_text(&s, text));
}

/*
 * The row of a command line; NULL, after a message, if there is none.  Comes
 * before the configuration is read, which may be broken or absent.
 */
static const struct command *
find_command(int argc, char **argv)
{
	const char *word = argc > 1 && !is_help(argv[1]) ? argv[1] : NULL;
	const struct command *command = find_row(argv[0], word);
	const struct command *plain = find_row(argv[0], NULL);

	if (command == NULL && plain != NULL && (plain->need & ARGUMENTS) != 0)
		return plain;
	if (plain == NULL) {
		char text[SUGGEST_TEXT];
		struct suggest s;

		suggest_start(&s, argv[0]);
		for (size_t i = 0; i < COUNT(texts); i++)
			suggest_offer(&s, texts[i].name, strlen(texts[i].name));
		suggest_usage(stderr, "nfdns", "unknown command \"%s\"%s",
		    argv[0], suggest_text(&s, text));
		return NULL;
	}
	if (command == NULL) {
		refuse_word(argv[0], word);
		return NULL;
	}
	for (int i = 2; i < argc && (command->need & ARGUMENTS) == 0; i++)
		if (!is_help(argv[i])) {
			refuse_word(argv[0], argv[i]);
			return NULL;
		}
	return command;
}

/* Prints what the rows of a command need, or the row of one word. */
static void
print_needs(const char *name, const char *word)
{
	const char *title = "\nNeeds:\n";

	for (size_t i = 0; i < COUNT(commands); i++) {
		const struct command *c = &commands[i];
		const char *comma = "";

		if (strcmp(c->name, name) != 0 || (word != NULL &&
		    !text_is_same(c->word, word)))
			continue;
		if ((c->need & ~(unsigned int)(ARGUMENTS | MAY_ASK)) == 0)
			continue;
		(void)fputs(title, stdout);
		title = "";
		(void)printf("  %s %-12s ", c->name,
		    c->word != NULL ? c->word : "");
		for (size_t n = 0; n < COUNT(needs); n++) {
			if ((c->need & 1U << n) == 0)
				continue;
			(void)printf("%s%s", comma, needs[n]);
			comma = ", ";
		}
		(void)puts("");
	}
}

/*
 * Whether the configuration file that the user named can be read.  If not, the
 * command must not fall back to the default one, which is another daemon's.
 */
static bool
is_readable(const char *path)
{
	if (access(path, R_OK) == 0)
		return true;
	cli_error("%s: cannot be read: %s; name the configuration file with "
	    "-c", path, strerror(errno));
	return false;
}

/* Runs a command with no more of the configuration than run_dir and path. */
static int
run_without(const struct command *command, const char *path, int argc,
    char **argv)
{
	struct config *config = calloc(1, sizeof(*config));
	int code = EXIT_ERROR;

	if (config != NULL) {
		config->run_dir = config_peek_run_dir(path);
		config->path = strdup(path);
	}
	if (config == NULL || config->run_dir == NULL ||
	    config->path == NULL)
		cli_error("out of memory");
	else
		code = command->run(config, argc, argv);
	config_free(config);
	return code;
}

static int
run_with(const struct command *command, const char *path, int argc, char **argv)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	int error = config_load(&config, path, &diag), code;

	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	if (error < 0)
		return EXIT_INVALID;
	code = command->run(config, argc, argv);
	config_free(config);
	return code;
}

int
command_run(const char *path, int argc, char **argv)
{
	const struct command *command = find_command(argc, argv);
	const char *file = path != NULL ? path : CONFIG_DEFAULT_PATH;

	if (command == NULL)
		return EXIT_USAGE;
	if (command_options_ask_help(argc, argv)) {
		for (size_t i = 0; i < COUNT(texts); i++)
			if (strcmp(texts[i].name, command->name) == 0)
				(void)fputs(texts[i].usage, stdout);
		print_needs(command->name, command->word);
		return EXIT_OK;
	}
	if ((command->need & (NEED_DAEMON | MAY_ASK)) != 0 && path != NULL && !is_readable(path))
		return EXIT_INVALID;
	if ((command->need & NEED_CONFIG) == 0)
		return run_without(command, file, argc, argv);
	return run_with(command, file, argc, argv);
}
