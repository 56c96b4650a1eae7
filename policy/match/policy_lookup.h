/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is answered if a rule decides: the records of the table, of another name
 * of the table, of the rule itself, or none.
 */
#ifndef NFDNS_POLICY_MATCH_POLICY_LOOKUP_H
#define NFDNS_POLICY_MATCH_POLICY_LOOKUP_H

#include "policy/match/policy_gather.h"
#include "resolver/image/lookup.h"

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
