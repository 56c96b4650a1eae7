/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a policy, compiled: which of them match a question.
 *
 * rules_build() writes a flat section that does not depend on where it lies in
 * memory; it becomes a part of the table's image, so that rules and table are
 * one file and one generation.  rules_open() checks such a section, whatever
 * octets it has, and makes it ready.  Matching is a pure function of rules and
 * question: it allocates nothing, makes no system call and reads no clock.
 *
 * A question costs at most one look-up for each of its labels and RULES_TRIES
 * rules tried, whatever the rules and whatever the question: rules_build()
 * refuses rules that would need more.
 */
#ifndef NFDNS_POLICY_MATCH_RULES_H
#define NFDNS_POLICY_MATCH_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/policy.h"
#include "policy/decide.h"
#include "policy/rule.h"
#include "resolver/dns/name.h"
#include "resolver/sources/source_format.h"
#include "resolver/text/diag.h"

/* Rules that one question may have to try: packaging/doc/policy.md. */
#define RULES_TRIES	1024

/* One of policy->sets in memory; borrows all. */
struct rules_file {
	struct source_text text;	/* data NULL: not loaded, so that the rules
					 * are what policy.refuse_unloaded says */
	struct diag *diag;		/* takes what is wrong with it */
	size_t names;			/* that it has; set by rules_build() */
};

/*
 * Compiles the policy, with one of "files" for each of its sets.  *octets is from
 * malloc(3), and the caller's.  A policy without rules has a section of no octets:
 * *octets is NULL.  "path" is the configuration's, for messages.
 * Returns 0; -EINVAL after errors in diag, all that there are; -EBADMSG if only
 * files have errors; or -ENOMEM.
 */
int rules_build(const struct policy *policy, const char *path,
    struct rules_file *files, struct diag *diag, uint8_t **octets,
    size_t *size) __attribute__((warn_unused_result));

struct rules;			/* borrows the section's octets */
struct section_code;
struct section_rrset;

/*
 * Checks a section; it is aligned to 8 octets and stays until rules_close().
 * Returns 0 and *rules, which is NULL for a section of no octets: no rules.  Or
 * -EINVAL and *why, a static text; or -ENOMEM.
 */
int rules_open(struct rules **rules, const uint8_t *octets, size_t size,
    const char **why) __attribute__((warn_unused_result));
void rules_close(struct rules *rules);

/* How many rules there are; they have the numbers from 1 on. */
unsigned int rules_count(const struct rules *rules);

/*
 * Whether some rule could deny a question of this asker whose name, type and
 * source nobody can read: conditions on those are taken as met by a rule that
 * denies, and as not met by one that allows.  A rule denies unless its action is
 * answer or pass; one with a rate denies; tcp-only denies over UDP;
 * one that only observes or logs does not deny.  An earlier rule that allows all
 * questions of this asker ends the search, as it does for a question that can be
 * read.
 * What the asker does not know (protocol 0, an address that is NULL) may be
 * anything.  asker NULL: whether a question of anybody could be denied.
 * It costs at most as many looks as RULES_TRIES, whatever the rules.  Where
 * there are more sets of conditions on askers, those left could deny anybody.
 */
bool rules_could_deny(const struct rules *rules, const struct asker *asker);

/* A rule, apart from its conditions.  Borrows from the section. */
struct rules_rule {
	const char *name;		/* no NUL */
	uint8_t name_length;
	uint32_t line;			/* of the configuration; 0: none */
	enum rule_action action;
	enum rule_only only;
	bool observe;
	enum rule_log log;
	struct policy_rate rate;	/* limit 0: none */
	const struct section_rrset *records;	/* for rules_rrset(); NULL: none */
	const uint8_t *octets;		/* likewise */
	const uint8_t *from, *to;	/* REWRITE: wire names, without the "*" */
	bool from_below, to_below;	/* "*." stands before it */
};

/*
 * number is from 1 to rules_count().  A rule of a zone of policies has its records
 * by rules_get_for() only.
 */
void rules_get(const struct rules *rules, unsigned int number,
    struct rules_rule *rule);

/*
 * The nth set of records of a rule's answer, from 0; CNAME_BELOW has one CNAME, to
 * the end of the target.  False: there are no more.  Borrows from the section.
 */
bool rules_rrset(const struct rules_rule *rule, unsigned int n,
    struct rrset *rrset);

/* What rules look at.  Borrows all. */
struct rules_question {
	const struct dns_name *name;	/* lower-cased */
	uint16_t type;
	bool mesh;			/* the table has the name */
	const struct asker *asker;
};

/* The rules that match one question, in order.  Members are rules.c's. */
struct rules_cursor {
	const struct rules *rules;
	const struct rules_question *question;
	struct rules_list {
		const struct section_code *next, *end;
	} lists[4];			/* by name, user, group; all others */
	struct rules_list names;	/* what the rules say of the name */
	unsigned int last;
};

/* Neither rules nor question may change until the last rules_next(). */
void rules_begin(struct rules_cursor *cursor, const struct rules *rules,
    const struct rules_question *question);

/* The number of the next rule that matches; 0: none. */
unsigned int rules_next(struct rules_cursor *cursor);

/* As rules_get(), with what the rule answers for the cursor's question. */
void rules_get_for(const struct rules_cursor *cursor, unsigned int number,
    struct rules_rule *rule);

/* A condition that does not hold. */
struct rules_miss {
	enum rule_key key;
	bool negated;			/* it stands there with "!" */
};

/*
 * For nfdns explain: whether the rule of that number matches; if not, *miss is
 * the first condition that does not hold, in the order of enum rule_key, those
 * of "match" before those of "not".
 */
bool rules_matches(const struct rules *rules, unsigned int number,
    const struct rules_question *question, struct rules_miss *miss);

/*
 * The name under which a rule with RULE_REWRITE asks the table.  False: it would
 * be longer than 255 octets, so that it does not exist.
 */
bool rules_rewrite(const struct rules_rule *rule, const struct dns_name *name,
    struct dns_name *to);

#endif
