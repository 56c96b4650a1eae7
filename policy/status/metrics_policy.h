/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy's part of the metrics. */
#ifndef NFDNS_POLICY_STATUS_METRICS_POLICY_H
#define NFDNS_POLICY_STATUS_METRICS_POLICY_H

#include "policy/status/metrics_out.h"
#include "policy/status/policy_status.h"

/*
 * Counters of rules by name: of the first STATUS_RULES, and "(others)" for all
 * behind them.  0 or -ENOMEM.
 */
int metrics_policy(const struct metrics_out *m,
    const struct status_policy *page) __attribute__((warn_unused_result));

#endif
