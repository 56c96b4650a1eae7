/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the policy says about a question: the rule that decides, rates taken,
 * rules that only observe noted.  Between match (rules.h) and decide
 * (policy/decide.h).
 */
#ifndef NFDNS_POLICY_MATCH_POLICY_GATHER_H
#define NFDNS_POLICY_MATCH_POLICY_GATHER_H

#include <stdatomic.h>

#include "policy/decide.h"
#include "policy/match/rate.h"
#include "policy/match/rules.h"

/*
 * Questions that a rule matched, in one of the first two: so their sum never falls
 * for those who read while threads count.
 */
struct policy_counter {
	_Atomic uint64_t enforced;
	_Atomic uint64_t observed;	/* while it only observed */
	_Atomic uint64_t limited;	/* of both, over its rate */
};

/* A generation's rules and what counts beside them.  Borrows all. */
struct policy_source {
	const struct rules *rules;	/* NULL: there are none */
	struct rate_table *rates;	/* NULL: no rate is taken, all are within */
	struct policy_counter **counters;	/* each rule's, from the first on;
					 * NULL: nothing is counted */
};

/* What was gathered. */
struct policy_found {
	struct ruling ruling;		/* of the rule that decides; rule 0: none */
	struct rules_rule rule;		/* the rule itself, unless 0 */
	uint16_t observed;		/* the first that would have decided; 0: none */
	bool observed_limited;		/* it is over its rate */
	struct rule_name observer;	/* its name */
	enum rule_action would;		/* and what it would have done */
	bool is_logged;			/* a rule wants a record of the question */
	bool is_not_logged;		/* the rule that decides wants none */
};

/* What audit records say of it; a value that outlives the generation. */
struct policy_note {
	struct rule_name rule;		/* that decides; of no octets: none does */
	struct rule_name observer;	/* that would have decided; likewise */
	enum rule_action would;		/* what the observer would have done */
	bool is_logged;			/* a rule wants a record, */
	bool is_not_logged;		/* or wants none */
};

/*
 * The first rule that matches and does not only observe, log, or limit a rate
 * that is not used up.
 */
void policy_gather(const struct policy_source *source,
    const struct rules_question *question, struct policy_found *found);

#endif
