/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the policy says about a question: the rule that decides, rates taken,
 * rules that only observe noted.  Between match (rules.h) and decide
 * (policy/decide.h).
 */
#ifndef NFDNS_POLICY_MATCH_POLICY_GATHER_H
#define NFDNS_POLICY_MATCH_POLICY_GATHER_H

#include "policy/decide.h"
#include "policy/match/rate.h"
#include "policy/match/rules.h"

/* A generation's rules and what counts beside them.  Borrows all. */
struct policy_source {
	const struct rules *rules;	/* NULL: there are none */
	struct rate_table *rates;	/* NULL: no rate is taken, all are within */
};

/* What was gathered. */
struct policy_found {
	struct ruling ruling;		/* of the rule that decides; rule 0: none */
	struct rules_rule rule;		/* the rule itself, unless 0 */
	uint16_t observed;		/* the first that would have decided; 0: none */
	bool observed_limited;		/* it is over its rate */
	uint16_t logged;		/* the first with log = "only"; 0: none */
};

/*
 * The first rule that matches and does not only observe, log, or limit a rate
 * that is not used up.
 */
void policy_gather(const struct policy_source *source,
    const struct rules_question *question, struct policy_found *found);

#endif
