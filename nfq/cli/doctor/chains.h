/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What other programs' chains do to questions and answers, by the rules of nf_tables
 * that the kernel has.  Of xtables ("legacy") only that they are there.
 */
#ifndef NFDNS_NFQ_CLI_DOCTOR_CHAINS_H
#define NFDNS_NFQ_CLI_DOCTOR_CHAINS_H

#include "nfq/cli/doctor/ask.h"
#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"

/*
 * Adds what is in the way of questions to the servers of "asks" and of nfdnsd's
 * to its upstreams, with the command that mends it.  What is not certain, or was
 * shown to be otherwise by an ask, is told only as far as it matters.
 */
void chains_check(struct findings *findings, const struct config *config,
    const struct ask *asks, size_t count);

#endif
