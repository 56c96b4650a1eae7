/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"

const char status_usage[] =
    "usage: nfdns [-c FILE] status [--json]\n"
    "\n"
    "Shows the daemon's state: whether it is ready, and if not, why; counters;\n"
    "the table; the last reload.  Exit code 0 if it is ready, 3 if it is not\n"
    "running, 5 if it is degraded, starting or stopping.\n"
    "\n"
    "  --json   print one JSON object\n";

static int
show(const struct config *config, bool json)
{
	const char *line = json ? "status json" : "status";
	struct daemon_answer answer;
	const int error = daemon_ask(&answer, config->run_dir, line,
	    DAEMON_REACTS_MS);
	int code;

	if (error < 0) {
		if (json)
			(void)puts("{\"ready\": false}");
		return daemon_tell_error(&answer, "status", config->run_dir,
		    error);
	}
	code = daemon_print(&answer, "status");
	daemon_answer_free(&answer);
	return code;
}

int
cmd_status(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(config, false);
}

int
cmd_status_json(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(config, true);
}
