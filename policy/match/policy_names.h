/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that a question is answered from, beside the name that it asks:
 * rules judge each of them, so that it does not matter how one asks.
 */
#ifndef NFDNS_POLICY_MATCH_POLICY_NAMES_H
#define NFDNS_POLICY_MATCH_POLICY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/policy_gather.h"
#include "resolver/image/lookup.h"

/*
 * By the search list and by short names: the name whose records are given, and
 * the target of each CNAME inside the table, with the names that those are short
 * for.  Most questions have none: then nothing is called.
 */
void policy_names_collect(struct policy_names *names,
    const struct question *question, const struct lookup *lookup);

/* Whether policy_names_collect() may find some: cheap, and seldom wrong. */
static inline bool
policy_names_may_be(const struct lookup *lookup)
{
	return lookup->entry.node != 0 && (lookup->entry.target_length != 0 ||
	    lookup->chain_length != lookup->has_type ||
	    table_is_alias(lookup->table, lookup->entry.node));
}

/* The targets of CNAMEs that are followed, alone. */
void policy_names_add_chain(struct policy_names *names,
    const struct lookup *lookup);

/* A name of the table that a rule of the policy answers from. */
void policy_names_add(struct policy_names *names, const struct table *table,
    const struct dns_name *name);

/* An answer that somebody else gave, or that is kept: a DNS message. */
struct policy_answer {
	const uint8_t *octets;
	size_t length;
	/*
	 * Of its answer section, so many records are the table's: their names
	 * were judged with the question.
	 */
	unsigned int known;
};

/* What became of it. */
enum policy_judged {
	POLICY_ALLOWED,
	POLICY_DENIED,			/* as "found" says */
	POLICY_UNREADABLE,		/* nobody can say what its names are */
};

/*
 * Judges the names of an answer's answer section: owners, and targets of CNAMEs.
 * "asked" is the question, whose rules were gathered before; "rule" the one that
 * decided then, 0: none.  The octets may be anything.  Writes *found if one of
 * them is denied, and takes rates and counts for these names alone.
 */
enum policy_judged policy_judge_answer(const struct policy_source *source,
    const struct rules_question *asked, unsigned int rule,
    const struct policy_answer *answer, struct policy_found *found);

#endif
