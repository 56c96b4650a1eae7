/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfq/cli/commands.h"
#include "nfq/cli/message.h"
#include "nfq/process/exit_code.h"
#include "policy/status/metrics.h"

const char metrics_usage[] =
    "usage: nfdns [-c FILE] metrics [--openmetrics]\n"
    "\n"
    "Prints the daemon's numbers in the text format of Prometheus, as\n"
    "run_dir/metrics.prom has them.\n"
    "\n"
    "  --openmetrics  as OpenMetrics 1.0\n";

static int
show(const struct config *config, bool open)
{
	struct status_page page;
	int error = status_open(&page, config->run_dir);

	if (error < 0)
		return cli_no_daemon("metrics", config->run_dir, error);
	error = metrics_print(&page, config->run_dir, open, stdout);
	status_close(&page);
	if (error == 0 && fflush(stdout) != 0)
		error = -errno;
	if (error == 0)
		return EXIT_OK;
	cli_error("metrics: cannot print: %s", strerror(-error));
	return EXIT_ERROR;
}

int
cmd_metrics(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(config, false);
}

int
cmd_metrics_open(const struct config *config, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show(config, true);
}
