/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operator hardly meant: warnings about rules that are valid. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_CHECK_H
#define NFDNS_POLICY_CONFIG_POLICY_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/config/policy.h"
#include "resolver/text/diag.h"

/*
 * Warns of rules that can never match, because an earlier rule decides about all
 * questions that they match.  Only what is certain is told: conditions that are
 * the same or wider, compared one by one; files of names only with themselves.
 * With many rules that have names, those are not compared with each other.
 */
void policy_check_order(const struct policy *policy, struct diag *diag);

/* Settings by which questions get past a policy, or that do not hold beside one. */
struct policy_gaps {
	bool absent_passes;	/* queue.absent */
	bool overload_passes;	/* queue.overload */
	bool tcp;		/* capture.tcp */
};

/*
 * For a policy that could deny something: warns of those by which what it denies
 * is resolved (queue.absent = "pass", capture.tcp = false), and of one that does
 * not hold then (queue.overload = "pass").
 */
void policy_check_gaps(const struct policy *policy,
    const struct policy_gaps *gaps, const char *file, struct diag *diag);

#endif
