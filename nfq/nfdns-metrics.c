/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/metrics/server.h"
#include "nfq/metrics/start.h"
#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/options.h"
#include "nfq/process/sandbox.h"
#include "policy/log.h"
#include "resolver/version.h"

static const char usage[] =
    "usage: nfdns-metrics\n"
    "\n"
    "Answers metrics.listen for nfdnsd, which starts it; it is of no use by\n"
    "itself.\n"
    "\n"
    "  -h, --help          show this text\n"
    "  -V, --version       show the version\n";

#define NICE	10	/* behind whoever asks for names */

/* All that it needs is open; then it gives up every right but to serve. */
static int
serve(const struct metrics_start *start, struct status_page *page,
    const struct metrics_reports *reports)
{
	struct peers peers;
	struct http *http;
	int error;

	peers_init(&peers);
	http = http_new(page, reports, &peers);
	error = http == NULL ? -ENOMEM : sandbox_metrics_seccomp();
	if (error == 0)
		error = metrics_server_run(start->listener, start->alive, http,
		    &peers);
	http_free(http);
	return error;
}

static int
run(const struct metrics_start *start)
{
	const struct metrics_reports *reports = NULL;
	struct status_page page;
	int error;

	/* Where a service manager forbids it, it stays as it is. */
	(void)!nice(NICE);
	if ((error = sandbox_metrics_privileges()) == 0 &&
	    (error = child_die_with(start->parent)) == 0 &&
	    (error = status_adopt(&page, start->status)) == 0 &&
	    (error = metrics_reports_map(&reports, start->reports)) == 0)
		error = serve(start, &page, reports);
	log_error("nfdns-metrics cannot go on: %s", strerror(-error));
	return EXIT_ERROR;
}

int
main(int argc, char **argv)
{
	struct metrics_start start;

	log_set_level(LOG_LEVEL_INFO);
	if (metrics_start_read(&start, argc, argv))
		return run(&start);
	return options_by_hand(usage, "nfdns-metrics " NFDNS_VERSION, argc, argv);
}
