/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "policy/status/status.h"
#include "nfq/process/exit_code.h"

static const char usage[] =
    "usage: nfdns [-c FILE] status [--json]\n"
    "\n"
    "Shows how the running daemon is: ready or not and why, counters, table,\n"
    "last reload.  Exit code 0 when it is ready, 3 when it is not running, 5\n"
    "when it runs but is degraded, starting or stopping.\n"
    "\n"
    "  --json   one JSON object\n";

int
report_no_daemon(const char *command, const char *run_dir, int error)
{
	if (error == -ENOENT || error == -ESRCH) {
		(void)fprintf(stderr, "nfdns: %s: nfdnsd is not running (no "
		    "living daemon's status page in run_dir \"%s\"): start it, "
		    "or name its configuration with -c\n", command, run_dir);
		return EXIT_NOT_RUNNING;
	}
	(void)fprintf(stderr, "nfdns: %s: cannot read the status page in "
	    "run_dir \"%s\": %s\n", command, run_dir, error == -EPROTO ?
	    "it is another version's: restart nfdnsd" : strerror(-error));
	return EXIT_ERROR;
}

static int
show(const struct config *config, bool json)
{
	struct status_page page;
	struct load_report load;
	int error = status_open(&page, config->run_dir);
	uint32_t state;

	if (error < 0) {
		if (json && (error == -ENOENT || error == -ESRCH))
			(void)puts("{\"ready\": false}");
		return report_no_daemon("status", config->run_dir, error);
	}
	state = atomic_load(&page.supervisor->state);
	/* Without it, what the page has is still worth knowing. */
	(void)!load_report_read(&load, config->run_dir);
	error = status_print(&page, &load, json, stdout);
	load_report_free(&load);
	status_close(&page);
	if (error < 0) {
		(void)fprintf(stderr, "nfdns: status: cannot print: %s\n",
		    strerror(-error));
		return EXIT_ERROR;
	}
	return state == STATUS_READY ? EXIT_OK : EXIT_DEGRADED;
}

int
cmd_status(const struct config *config, int argc, char **argv)
{
	bool json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			(void)fputs(usage, stdout);
			return EXIT_OK;
		}
		if (strcmp(argv[i], "--json") != 0) {
			(void)fprintf(stderr, "nfdns: status: unknown argument "
			    "\"%s\"\n%s", argv[i], usage);
			return EXIT_USAGE;
		}
		json = true;
	}
	return show(config, json);
}
