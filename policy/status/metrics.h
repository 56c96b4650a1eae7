/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status page as metrics, in the text format of Prometheus or as OpenMetrics
 * 1.0.  No metric has a name that somebody asked for: names of the configuration
 * (upstreams, domains, feeds) are the only texts.
 */
#ifndef NFDNS_POLICY_STATUS_METRICS_H
#define NFDNS_POLICY_STATUS_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "policy/status/status.h"

#define METRICS_FILE	"metrics.prom"	/* in run_dir */

/*
 * Prints all metrics: of the page, and of config's sources and feeds.  "open":
 * OpenMetrics, which names a counter's family without "_total" and ends with
 * "# EOF".  0, -ENOMEM or -EIO.
 */
int metrics_print(const struct status_page *page, const struct config *config,
    bool open, FILE *out) __attribute__((warn_unused_result));

/*
 * Replaces config->run_dir/METRICS_FILE atomically, for the textfile collector of
 * node_exporter: 0644.  0 or a negative errno.
 */
int metrics_write(const struct status_page *page, const struct config *config)
    __attribute__((warn_unused_result));
void metrics_remove(const char *run_dir);

#endif
