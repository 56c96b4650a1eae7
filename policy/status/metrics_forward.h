/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forwarding's part of the metrics. */
#ifndef NFDNS_POLICY_STATUS_METRICS_FORWARD_H
#define NFDNS_POLICY_STATUS_METRICS_FORWARD_H

#include "policy/status/metrics_out.h"
#include "policy/status/status.h"

/* Nothing without upstreams.  0 or -ENOMEM. */
int metrics_forward(const struct metrics_out *m,
    const struct status_page *page, const struct status_counters *counters)
    __attribute__((warn_unused_result));

#endif
