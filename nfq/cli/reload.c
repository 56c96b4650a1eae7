/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/commands.h"
#include "nfq/cli/daemon_ask.h"
#include "nfq/cli/message.h"

/* More than a compiler may take, and the reload before it. */
#define RELOAD_WAIT_MS	660000

const char reload_usage[] =
    "usage: nfdns [-c FILE] reload [--force]\n"
    "\n"
    "Checks the configuration file, makes the running daemon load it and the\n"
    "mesh tables, and waits for the result.  Prints the warnings and a summary.\n"
    "Exit code 0 if the daemon uses the new configuration and tables, 4 if it\n"
    "refused them and keeps the old ones, 3 if it is not running.\n"
    "\n"
    "  --force   also accept tables or files of rules that have lost more than half\n"
    "            of their names\n";

void
cmd_reload_refused(const char *run_dir)
{
	struct daemon_answer answer;

	cli_error("reload: refused, everything stays as it was");
	if (daemon_ask(&answer, run_dir, "reload", RELOAD_WAIT_MS) == 0)
		daemon_answer_free(&answer);
}

int
cmd_reload(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return daemon_show("reload", config->run_dir, "reload", RELOAD_WAIT_MS);
}

int
cmd_reload_forced(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return daemon_show("reload", config->run_dir, "reload force",
	    RELOAD_WAIT_MS);
}
