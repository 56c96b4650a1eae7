/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/json_write.h"
#include "resolver/text/number.h"
#include "resolver/text/suggest.h"

/* More than a compiler may take, and the reload before it. */
#define RELOAD_WAIT_MS	660000

const char reload_usage[] =
    "usage: nfdns [-c FILE] reload [--force] [--json]\n"
    "\n"
    "Checks the configuration file, makes the running daemon load it and the\n"
    "mesh tables, and waits for the result.  Prints the warnings and a summary.\n"
    "Exit code 0 if the daemon uses the new configuration and tables, 4 if it\n"
    "refused them and keeps the old ones, 3 if it is not running.\n"
    "\n"
    "      --force   also accept tables or files of rules that have lost more than\n"
    "                half of their names\n"
    "  -j, --json    print one JSON object\n";

struct words {
	bool force, json;
};

const struct command_option reload_options[] = {
	OPTION_FLAG("force", 0, struct words, force),
	OPTION_FLAG("json", 'j', struct words, json),
	{ .name = NULL },
};

/* What it says, as it would be printed. */
static int
print_json(const struct daemon_answer *answer)
{
	struct json_write w = { .out = stdout };

	json_write_open(&w, NULL, '{');
	json_write_bool(&w, "reloaded", answer->code == EXIT_OK);
	daemon_write_lines(&w, "messages", answer->err);
	daemon_write_lines(&w, "summary", answer->out);
	json_write_close(&w, '}');
	return json_write_end(&w) == 0 ? answer->code : EXIT_ERROR;
}

static int
reload(const char *run_dir, const struct words *words)
{
	struct daemon_answer answer;
	const int error = daemon_ask(&answer, run_dir, words->force ?
	    "reload force" : "reload", RELOAD_WAIT_MS);
	int code;

	if (error < 0)
		return daemon_tell_error(&answer, "reload", run_dir, error);
	code = words->json ? print_json(&answer) :
	    daemon_print(&answer, "reload");
	daemon_answer_free(&answer);
	return code;
}

/*
 * The configuration is read here, too, as the caller may: its errors are told at once.
 * The daemon reads the invalid file all the same, so that its log and status show the
 * error.
 */
int
cmd_reload(const struct config *peeked, int argc, char **argv)
{
	struct words words = { .json = false };
	struct diag diag = DIAG_INIT;
	struct config *config;
	bool valid;
	int code;

	if (!command_options_only(reload_options, "nfdns reload", &words, argc,
	    argv))
		return EXIT_USAGE;
	valid = config_load(&config, peeked->path, &diag) == 0;
	if (!valid && !words.json) {
		struct daemon_answer answer;

		diag_print(&diag, "nfdns", stderr);
		cli_error("reload: refused, everything stays as it was");
		if (daemon_ask(&answer, peeked->run_dir, "reload",
		    RELOAD_WAIT_MS) == 0)
			daemon_answer_free(&answer);
		code = EXIT_INVALID;
	} else {
		code = reload(valid ? config->run_dir : peeked->run_dir,
		    &words);
	}
	diag_free(&diag);
	if (valid)
		config_free(config);
	return code;
}

int
cmd_reload_forced(const struct config *config)
{
	return reload(config->run_dir, &(const struct words){ .force = true });
}

/* nfdns pause, nfdns resume. */

#define DEFAULT_TIME "10m"

const char pause_usage[] =
    "usage: nfdns [-c FILE] pause [TIME]\n"
    "       nfdns [-c FILE] resume\n"
    "\n"
    "Lets every question pass, as if nfdns were not installed, for TIME (90s, 10m,\n"
    "2h; default " DEFAULT_TIME "; at most 24h), or until nfdns resume.  Table, cache and what\n"
    "is under way stay.  It ends by itself, and with a restart of nfdnsd.  Rules\n"
    "of the policy do not hold meanwhile.\n";

int
cmd_pause(const struct config *config, int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : DEFAULT_TIME;
	uint64_t seconds = 0;
	char line[40];
	int code;

	(void)!number_of_seconds(text, REQUEST_PAUSE_MAX, &seconds);
	if (argc > 2 || seconds == 0) {
		suggest_usage(stderr, "nfdns pause", argc > 2 ? "too many "
		    "arguments" : "\"%s\" is not a time such as 90s, 10m or 2h, "
		    "up to 24h", text);
		return EXIT_USAGE;
	}
	(void)snprintf(line, sizeof(line), "pause %" PRIu64,
	    seconds);
	code = daemon_show("pause", config->run_dir, line, DAEMON_REACTS_MS);
	if (code == EXIT_OK)
		(void)printf("paused for %s: every question passes; nfdns "
		    "resume ends it\n", text);
	return code;
}

int
cmd_resume(const struct config *config, int argc, char **argv)
{
	int code;

	if (argc > 1) {
		suggest_usage(stderr, "nfdns resume", "unknown argument \"%s\"",
		    argv[1]);
		return EXIT_USAGE;
	}
	code = daemon_show("resume", config->run_dir, "resume",
	    DAEMON_REACTS_MS);
	if (code == EXIT_OK)
		(void)puts("questions are taken again");
	return code;
}

const char status_usage[] =
    "usage: nfdns [-c FILE] status [--all | --json]\n"
    "\n"
    "Shows the daemon's state: whether it is ready, and if not, why; the table;\n"
    "files that have changed since it was loaded; what became of questions.  Exit\n"
    "code 0 if it is ready, 3 if it is not running, 5 if it is degraded, starting\n"
    "or stopping.\n"
    "\n"
    "  -a, --all   print every number, a line each\n"
    "  -j, --json  print one JSON object\n";

struct request {
	bool all, json;
};

const struct command_option status_options[] = {
	OPTION_FLAG("all", 'a', struct request, all),
	OPTION_FLAG("json", 'j', struct request, json),
	{ .name = NULL },
};

int
cmd_status(const struct config *config, int argc, char **argv)
{
	struct request r = { .all = false };
	struct daemon_answer answer;
	int code, error;

	if (!command_options_only(status_options, "nfdns status", &r, argc,
	    argv))
		return EXIT_USAGE;
	error = daemon_ask(&answer, config->run_dir, r.json ? "status json" :
	    r.all ? "status all" : "status", DAEMON_REACTS_MS);
	if (error < 0) {
		if (r.json)
			(void)puts("{\"ready\": false}");
		return daemon_tell_error(&answer, "status", config->run_dir,
		    error);
	}
	code = daemon_print(&answer, "status");
	daemon_answer_free(&answer);
	return code;
}
