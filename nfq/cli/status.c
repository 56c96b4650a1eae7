/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/process/exit_code.h"

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
