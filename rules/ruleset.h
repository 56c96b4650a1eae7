/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What we want in the kernel: table inet nfdns as values.  One list of rules
 * that the text form (print.c), the netlink batch (kernel.c) and the check
 * against the kernel (verify.c) are all made from, so they cannot differ.
 */
#ifndef NFDNS_RULES_RULESET_H
#define NFDNS_RULES_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/config.h"
#include "resolver/diag.h"
#include "rules/address_set.h"

#define RULES_TABLE		"nfdns"		/* family inet */
#define RULES_CHAIN_QUESTION	"question"	/* hook output, priority -310 */
#define RULES_CHAIN_VERDICT	"verdict"	/* hook output, priority -305 */

enum rules_chain { CHAIN_QUESTION, CHAIN_VERDICT, CHAINS };

/*
 * The condition of a rule.  The first two send everything that is not DNS on
 * its way, so that the rules after them need not look at the protocol again,
 * but for those that queue: they match UDP and port 53 once more, so that no
 * edit of the others can ever queue a packet of another protocol.
 */
enum rule_match {
	MATCH_NOT_UDP,
	MATCH_NOT_PORT53,
	MATCH_USER, MATCH_GROUP, MATCH_MARK, MATCH_CGROUP, MATCH_CLASSID,
	MATCH_DESTINATION4, MATCH_DESTINATION6,	/* in a set */
	MATCH_NAMESERVER4, MATCH_NAMESERVER6,	/* UDP port 53 to an address in a set */
	MATCH_QUESTION,		/* UDP port 53 to anywhere */
};

enum rule_action {
	ACTION_ACCEPT,
	ACTION_QUEUE,		/* mark |= passed, then queue with bypass */
	ACTION_SET_ZONE,	/* ct original zone set, clear the mark's bits */
	ACTION_NOTRACK,
};

/* Which rules are to be in chain "question". */
enum rules_stage {
	RULES_CANARY,		/* only the canary's: no user's packet is touched */
	RULES_FULL,
};

/*
 * One rule.  A value, but for cgroup.path, which borrows from the config;
 * "comment" is what nft shows behind it and says in words what the rule is for
 * ("bypass: user 998").  The rules of chain "verdict" match by MATCH_MARK too.
 */
struct rule {
	enum rules_chain chain;
	enum rule_match match;
	enum rule_action action;
	bool canary;			/* the canary's own: all bits of mark_mask set */
	union {
		uint32_t id;		/* uid, gid, classid */
		struct config_mark mark;
		struct { uint64_t id; uint32_t level; const char *path; } cgroup;
	} arg;
	char comment[96];
};

/* The comment of the canary's rule, by which its counter is told from the others. */
#define RULES_COMMENT_CANARY "canary"

/* Which set a rule looks into; also its place in ruleset.sets. */
enum rules_set_id {
	SET_BYPASS4, SET_BYPASS6, SET_NAMESERVERS4, SET_NAMESERVERS6, RULES_SETS
};

struct ruleset {
	struct rule *rules;	/* in order, both chains */
	size_t count;
	struct address_set sets[RULES_SETS];	/* count 0: not in use */
	uint32_t mark_mask, mark_passed, mark_answered;
	uint16_t zone;
	uint16_t queue_number;
	uint16_t queue_count;	/* > 1: spread by CPU (fanout) */
	bool queue_bypass;
};

/* The set that the rule looks into, or RULES_SETS when it needs none. */
enum rules_set_id rule_set_id(const struct rule *rule);

/*
 * Borrows config.  cgroup paths are looked up below the cgroup v2 mount: one
 * that is not there is an error in diag, with the config's line.
 * Returns 0, -EINVAL (diag says why) or -ENOMEM.
 */
int ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag) __attribute__((warn_unused_result));
void ruleset_free(struct ruleset *set);

/* The name of a chain in the kernel, and the priority at the output hook. */
const char *rules_chain_name(enum rules_chain chain);
int rules_chain_priority(enum rules_chain chain);
/* The name that a set has there. */
const char *rules_set_name(enum rules_set_id set);

/* In nft(8) syntax, with the native queue statement.  0 or a negative errno. */
int ruleset_print(const struct ruleset *set, FILE *out)
    __attribute__((warn_unused_result));

/* The rule without comment and counter, as ruleset_print() writes it. */
void rule_print(const struct ruleset *set, const struct rule *rule, FILE *out);

/* The mark that a canary question's socket has to carry: all three bits. */
uint32_t ruleset_canary_mark(const struct config *config);

#endif
