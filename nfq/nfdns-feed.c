/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfq/feed/feed.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/exit_code.h"
#include "policy/config/feed_config.h"
#include "policy/log.h"
#include "resolver/version.h"

static const char usage[] =
    "usage: nfdns-feed [-t] -c FILE\n"
    "\n"
    "Receives a mesh table from a control plane and keeps it for nfdnsd.  Runs in\n"
    "the foreground until SIGTERM; SIGHUP reads the configuration again.\n"
    "\n"
    "  -c, --config FILE   configuration, NAME.conf for the feed NAME\n"
    "  -t, --test          check the configuration, and end: exit code 0 if it\n"
    "                      is valid, 4 if not\n"
    "  -d, --defaults      print every option with its meaning and default\n"
    "  -h, --help          this text\n"
    "  -V, --version       the version\n";

static const struct option all[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "test", no_argument, NULL, 't' },
	{ "defaults", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct options options = {
	.name = "nfdns-feed", .usage = usage,
	.version = "nfdns-feed " NFDNS_VERSION, .letters = ":c:tdhV", .all = all,
};

static int
run(const char *path, bool test)
{
	struct diag diag = DIAG_INIT;
	struct feed_conf *config;
	int error = feed_conf_load(&config, path, &diag);

	if (error == 0 && access(config->state_dir, W_OK | X_OK) < 0)
		diag_add(&diag, DIAG_WARNING, path, 0, "state_dir %s: %s: this "
		    "user cannot keep tables there", config->state_dir,
		    strerror(errno));
	if (test)
		diag_print(&diag, "nfdns-feed", stderr);
	else
		diag_log(&diag);
	diag_free(&diag);
	if (error < 0)
		return EXIT_INVALID;
	if (test) {
		(void)printf("valid: feed \"%s\"\n", config->feed.name);
		feed_conf_free(config);
		return EXIT_OK;
	}
	log_set_level(config->log_level);
	return feed_run(config, path);
}

int
main(int argc, char **argv)
{
	const char *path = NULL;
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
		case 'd':
			feed_conf_print_defaults(stdout);
			return EXIT_OK;
		}
	}
	if (option == OPTIONS_EXIT)
		return code;
	if (path != NULL)
		return run(path, test);
	(void)fputs("nfdns-feed: name the file of the feed with -c, as /etc/nfdns/"
	    "feeds.d/mesh.conf\n", stderr);
	return EXIT_USAGE;
}
