/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/explain_words.h"
#include "nfq/cli/message.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/explain/json.h"
#include "nfq/cli/explain/print.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/settings.h"

#define MAX_LINE	2048
#define MAX_WORDS	32

const char explain_usage[] =
    "usage: nfdns [-c FILE] explain [OPTION ...] NAME [TYPE]\n"
    "       nfdns [-c FILE] explain [OPTION ...] -\n"
    "\n"
    "Shows what happens to a question, step by step: the rule of the kernel that\n"
    "queues it, the policy rules, the table entry with its file and line, the\n"
    "decision, and the answer as dig prints it.  No packet is sent.  The daemon's\n"
    "own code decides, by the running daemon's table and settings; for a user who\n"
    "may not open those, by the configured tables as they are now.  The rules of\n"
    "the kernel are those of the configuration.\n"
    "\n"
    "With \"-\", reads questions from the standard input, one a line: NAME [TYPE]\n"
    "[OPTION ...]; options of the command line hold for all of them.\n"
    "\n"
    "  --uid USER, --gid GROUP  who asks, name or number (default: yourself)\n"
    "  --from ADDRESS           from which address (default: as it would be)\n"
    "  --nameserver ADDRESS     whom (default: the first of /etc/resolv.conf)\n"
    "  --proto udp|tcp          how (default: udp)\n"
    "  --configured             by the configured tables, not the daemon's\n"
    "  --all                    print all rules of the policy\n"
    "  --brief                  one line: the decision, its reason, the records\n"
    "  --json                   print JSON, one object for each question\n"
    "\n"
    "Exit codes: 0 explained, 1 error, 2 usage, 3 nfdnsd is not running (use\n"
    "--configured), 4 invalid configuration or tables.\n";

/* Everything that questions are explained by; owned. */
struct ground {
	const struct config *config;
	struct settings *settings;
	struct ruleset rules;
	struct table *table;
	struct rules *policy;		/* of the table; NULL: there are none */
	struct explanation *explanation;
	char from[256];			/* where the table comes from, in words */
};

static void
close_ground(struct ground *g)
{
	explain_free(g->explanation);
	rules_close(g->policy);
	table_close(g->table);
	ruleset_free(&g->rules);
	free(g->settings);
}

/* Takes over fd.  An exit code. */
static int
map_table(struct ground *g, int fd, const char *what)
{
	const char *why = NULL;
	int error = table_open(&g->table, fd, &why);

	(void)close(fd);
	if (error == 0) {
		size_t size;
		const uint8_t *octets = table_policy(g->table, &size);

		error = rules_open(&g->policy, octets, size, &why);
	}
	if (error == 0)
		return EXIT_OK;
	cli_error("%s: %s", what, why);
	return EXIT_INVALID;
}

/* The configuration's tables, compiled now.  An exit code. */
static int
use_configured(struct ground *g)
{
	struct diag diag = DIAG_INIT;
	const int fd = compiler_run(g->config, &diag);

	if (fd < 0)
		diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	settings_of(g->settings, g->config);
	return fd < 0 ? EXIT_INVALID : map_table(g, fd, g->config->path);
}

static int
use_running(struct ground *g, struct daemon_answer *answer)
{
	const char *why = settings_read(g->settings, answer->fds[1]);
	const int table = answer->fds[0];

	(void)snprintf(g->from, sizeof(g->from), "the running daemon, "
	    "process %d, table generation %.*s", (int)answer->pid,
	    (int)strcspn(answer->out, "\n"), answer->out);
	if (why == NULL) {
		answer->fds[0] = -1;
		return map_table(g, table, "the table of nfdnsd");
	}
	cli_error("explain: the settings of nfdnsd: %s", why);
	return EXIT_ERROR;
}

/* The running daemon's table and settings, or the configured ones. */
static int
open_table(struct ground *g, bool configured)
{
	struct daemon_answer answer;
	int error = configured ? 0 : daemon_ask(&answer, g->config->run_dir,
	    "running", DAEMON_REACTS_MS);

	if (error < 0)
		return daemon_tell_error(&answer, "explain",
		    g->config->run_dir, error);
	(void)snprintf(g->from, sizeof(g->from), "%s and its tables, as they "
	    "are now%s", g->config->path, configured ? "" :
	    ": only root may open those of the running daemon");
	if (configured)
		return use_configured(g);
	error = answer.code != EXIT_OK ? use_configured(g) :
	    use_running(g, &answer);
	daemon_answer_free(&answer);
	return error;
}

/* An exit code. */
static int
open_ground(struct ground *g, bool configured)
{
	struct diag diag = DIAG_INIT;
	int code = EXIT_ERROR;

	g->settings = calloc(1, sizeof(*g->settings));
	g->explanation = explain_new();
	if (g->settings == NULL || g->explanation == NULL) {
		cli_error("out of memory");
		return EXIT_ERROR;
	}
	if (ruleset_build(&g->rules, g->config, RULES_FULL, &diag) == 0)
		code = open_table(g, configured);
	diag_print(&diag, "nfdns", stderr);
	diag_free(&diag);
	return code;
}

/* An exit code. */
static int
explain_one(struct ground *g, struct explain_words *words)
{
	const struct explain_source source = { &g->rules, g->settings,
		g->table, g->policy };
	const struct explain_view view = { g->from, words->all };

	if (!explain_words_complete(words))
		return EXIT_USAGE;
	explain(g->explanation, &source, &words->question);
	if (words->brief)
		explain_print_brief(g->explanation, stdout);
	else if (!words->json)
		explain_print(g->explanation, &view, stdout);
	else if (explain_print_json(g->explanation, &view, stdout) != 0)
		goto fail;
	return EXIT_OK;
fail:
	cli_error("explain: out of memory");
	return EXIT_ERROR;
}

/* The words of a line behind argv[0].  Returns their number with it. */
static int
split(char *line, char *argv[static MAX_WORDS + 1])
{
	static char program[] = "explain";
	int argc = 0;
	char *word;

	argv[argc++] = program;
	while ((word = strsep(&line, " \t\n")) != NULL && argc < MAX_WORDS)
		if (*word != '\0')
			argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/*
 * Each line of the standard input.  A bad one has a message and, with --json,
 * an object, so that lines and objects stay side by side.
 */
static int
explain_many(struct ground *g, const struct explain_words *defaults)
{
	char line[MAX_LINE], *argv[MAX_WORDS + 1];
	const char *between = "";
	int code = EXIT_OK;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct explain_words words = *defaults;
		const int argc = split(line, argv);
		int one = EXIT_USAGE;

		if (argc == 1)
			continue;
		if (!words.json && !words.brief)
			fputs(between, stdout);
		between = "\n";
		words.many = false;
		if (explain_words_read(&words, argc, argv) && !words.many)
			one = explain_one(g, &words);
		if (one == EXIT_USAGE && words.json)
			puts("{\"error\":\"usage\"}");
		(void)fflush(stdout);
		code = code == EXIT_OK ? one : code;
	}
	return code;
}

int
cmd_explain(const struct config *config, int argc, char **argv)
{
	struct ground g = { .config = config };
	struct explain_words words;
	int code;

	explain_words_defaults(&words);
	if (!explain_words_read(&words, argc, argv))
		return EXIT_USAGE;
	code = open_ground(&g, words.configured);
	if (code == EXIT_OK)
		code = words.many ? explain_many(&g, &words) :
		    explain_one(&g, &words);
	close_ground(&g);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error("cannot write the output: %s", strerror(errno));
		return EXIT_ERROR;
	}
	return code;
}
