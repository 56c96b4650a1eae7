/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What other programs' chains do to questions and answers: seen on doctor's own
 * asks by the kernel's trace (rules/trace.h).  Of xtables ("legacy") only that they
 * are there.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_CHAINS_H
#define NFDNS_NFQ_CLI_DOCTOR_CHAINS_H

#include "nfq/cli/doctor/ask.h"
#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"
#include "rules/trace.h"

/*
 * Begins to trace asks whose ports are known.  0 or a negative errno, for
 * chains_check().
 */
int chains_trace(struct trace **trace, const struct ask *asks, size_t count)
    __attribute__((warn_unused_result));

/*
 * Behind ask_all(): adds which rule kept an ask from its answer, with the command
 * that mends it, and where one was led elsewhere.  error: what chains_trace()
 * returned; trace is NULL then.
 */
void chains_check(struct findings *findings, const struct config *config,
    struct trace *trace, int error, const struct ask *asks, size_t count);

#endif
