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
#include "resolver/image/lookup.h"

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
	/*
	 * The name that it denies, if that is not the one asked; of no octets
	 * otherwise, and no name.
	 */
	struct dns_name judged;
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
	uint8_t judged_length;		/* of the name that the rule denies, if */
	uint8_t judged[NAME_MAX_OCTETS];	/* it is not the one asked */
};

/*
 * The first rule that matches and does not only observe, log, or limit a rate
 * that is not used up.
 */
void policy_gather(const struct policy_source *source,
    const struct rules_question *question, struct policy_found *found);

/* Names that a question is answered from: policy_names.h. */
#define POLICY_NAMES_MAX	96

struct policy_names {
	unsigned int count;
	struct dns_name names[POLICY_NAMES_MAX];	/* lower-cased */
};

/* What becomes of the name asked beside them. */
enum policy_scope {
	POLICY_WITH_ASKED,		/* as policy_gather(), with more names */
	/*
	 * It was gathered before, and the rules that it matches have counted; what
	 * they say of it goes before later rules, as above.
	 */
	POLICY_AFTER_ASKED,
	/*
	 * The same, but "rule" has decided to answer from these names.  A rule for
	 * one of them that answers from yet another is not followed.  Where a fixed
	 * CNAME leads, only earlier rules deny.
	 */
	POLICY_OF_RULE,
};

/*
 * The same for several names.  The conditions are the question's, only the name
 * differs.  Rules are tried in their order, each once for all names: the first that
 * decides about the name asked, or denies one of the others, decides, and takes the
 * rate of the question.  A rule that lets one of the others be answered or pass
 * ends the search for that name.  Within a response policy zone, the name asked
 * goes before the others.
 */
void policy_gather_names(const struct policy_source *source,
    const struct rules_question *question, const struct policy_names *names,
    enum policy_scope scope, unsigned int rule, struct policy_found *found);

/*
 * What is answered if a rule decides: the records of the table, of another name
 * of the table, of the rule itself, or none.
 */

/* Whether the table has a name, for the condition "source". */
bool policy_is_mesh(const struct lookup *lookup);

/* The name that a RULE_REWRITE answers from; false: there can be none. */
bool policy_rewrite(const struct policy_found *found,
    const struct dns_name *asked, struct dns_name *to);

/*
 * Makes *lookup, which is the question's, what the rule that decides answers
 * from.  It borrows from the rules' section then, too.
 */
void policy_lookup(const struct policy_found *found,
    const struct question *question, struct lookup *lookup);

#endif
