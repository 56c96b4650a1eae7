/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/message.h"
#include "policy/status/status.h"
#include "nfq/process/exit_code.h"

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
	struct status_page page;
	int error = status_open(&page, config->run_dir);
	uint32_t state;

	if (error < 0) {
		if (json && (error == -ENOENT || error == -ESRCH))
			(void)puts("{\"ready\": false}");
		return cli_no_daemon("status", config->run_dir, error);
	}
	state = atomic_load(&page.supervisor->state);
	error = status_print(&page, config->run_dir, json, stdout);
	status_close(&page);
	if (error < 0) {
		cli_error("status: cannot print: %s", strerror(-error));
		return EXIT_ERROR;
	}
	return state == STATUS_READY ? EXIT_OK : EXIT_DEGRADED;
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
