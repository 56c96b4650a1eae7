/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operator hardly meant: warnings about rules that are valid. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_CHECK_H
#define NFDNS_POLICY_CONFIG_POLICY_CHECK_H

#include "policy/config/policy.h"
#include "resolver/text/diag.h"

/*
 * Warns of rules that can never match, because an earlier rule decides about all
 * questions that they match.  Only what is certain is told: conditions that are
 * the same or wider, compared one by one; files of names only with themselves.
 * With many rules that have names, those are not compared with each other.
 */
void policy_check_order(const struct policy *policy, const char *file,
    struct diag *diag);

/*
 * Warns of settings by which questions get past rules that deny something: while
 * no daemon reads the queue (queue.absent = "pass"), and over TCP (capture.tcp =
 * false).
 */
void policy_check_gaps(const struct policy *policy, bool absent_passes, bool tcp,
    const char *file, struct diag *diag);

#endif
