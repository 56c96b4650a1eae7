/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the policy shows on the status page: a place for each of the first rules,
 * and one for all others together.  The worker's main thread gives places to
 * rules by their names, so that a rule keeps its numbers over a reload; its
 * threads count.  Readers trust nothing: the worker writes the page.
 */
#ifndef NFDNS_POLICY_STATUS_POLICY_STATUS_H
#define NFDNS_POLICY_STATUS_POLICY_STATUS_H

#include <stdatomic.h>
#include <stdint.h>

#include "policy/match/policy_gather.h"
#include "policy/rule.h"

#define STATUS_RULES	1024		/* places; the one behind them: all others */

struct status_rule {
	_Atomic uint32_t number;	/* of the rule that has it; 0: none */
	struct rule_name name;
	struct policy_counter counter;
};

struct status_policy {
	_Atomic uint64_t rates_full;	/* rate_full() */
	struct status_rule rules[STATUS_RULES + 1];
};

/*
 * Gives places to the rules.  Returns the counter of each, as struct
 * policy_source has them, which the caller frees; NULL without rules or memory.
 * Only one thread may call it at a time.
 */
struct policy_counter **policy_status_assign(struct status_policy *page,
    const struct rules *rules);

/* A place as it is read: its name is a text whatever the page has. */
struct policy_shown {
	uint32_t number;		/* of the rule; of the place of all others:
					 * how many they are; 0: nobody has it */
	char name[RULE_NAME_MAX + 1];	/* printable */
	uint64_t matched;		/* enforced and observed */
	uint64_t enforced, observed, limited;
};

/*
 * The rules that have places, in their order; and behind them what the others
 * have, with the name "(others)", which no rule has.  Returns how many have
 * places; the caller frees *shown, which is NULL for lack of memory.
 */
size_t policy_status_read(const struct status_policy *page,
    struct policy_shown **shown);

#endif
