/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>

#include "nfq/cli/commands.h"
#include "nfq/process/compiler.h"
#include "nfq/process/diag_print.h"
#include "nfq/supervisor/supervisor.h"
#include "policy/config/config.h"
#include "policy/log.h"
#include "nfq/process/exit_code.h"
#include "resolver/version.h"

static const char usage[] =
    "usage: nfdnsd [-c FILE] [-t]\n"
    "\n"
    "Answers the names of a service mesh from the packet queue.  Runs in the\n"
    "foreground until SIGTERM.  SIGHUP reloads, SIGUSR1 logs the status, SIGUSR2\n"
    "reopens the audit files, SIGQUIT hands over to a successor.\n"
    "\n"
    "  -c, --config FILE   configuration (default " CONFIG_DEFAULT_PATH ")\n"
    "  -t, --test          check configuration and tables, and exit: exit code 0\n"
    "                      if they are valid, 4 if not\n"
    "  -h, --help          show this text\n"
    "  -V, --version       show the version\n";

static const struct option all[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "test", no_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct options options = {
	.name = "nfdnsd", .usage = usage, .version = "nfdnsd " NFDNS_VERSION,
	.letters = ":c:thV", .all = all,
};

/* Reads the config, and either checks the rest of it or runs with it. */
static int
run(const char *path, bool test)
{
	struct diag diag = DIAG_INIT;
	struct config *config;
	int error;

	if (test)
		return check_file(path, "nfdnsd");
	error = config_load(&config, path, &diag);
	diag_log(&diag);
	diag_free(&diag);
	if (error < 0)
		return EXIT_INVALID;
	log_set_level(config->log_level);
	return supervisor_run(config);
}

int
main(int argc, char **argv)
{
	const char *path = CONFIG_DEFAULT_PATH;
	bool test = false;
	int option, code;

	log_set_level(LOG_LEVEL_INFO);
	while ((option = options_next(&options, argc, argv, &code)) > 0) {
		switch (option) {
		case 'c':
			path = optarg;
			break;
		case 't':
			test = true;
			break;
		}
	}
	if (option == OPTIONS_EXIT)
		return code;
	return run(path, test);
}
