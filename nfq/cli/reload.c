/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "resolver/text/json_write.h"

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
