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

#define RULES_TABLE		"nfdns"		/* family inet */
#define RULES_CHAIN_QUESTION	"question"	/* hook output, priority -310 */
#define RULES_CHAIN_VERDICT	"verdict"	/* hook output, priority -305 */

enum rules_chain { CHAIN_QUESTION, CHAIN_VERDICT, CHAINS };

/* The condition of a rule.  Queue and canary rules match "udp dport 53" too. */
enum rule_match {
	MATCH_NOT_DNS,		/* neither UDP nor destination port 53 */
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
 * One rule.  A value; "comment" is what nft shows behind it and says in words
 * what the rule is for ("bypass: user 998").
 */
struct rule {
	enum rules_chain chain;
	enum rule_match match;
	enum rule_action action;
	bool canary;			/* the canary's own queue rule */
	union {
		uint32_t id;		/* uid, gid, classid */
		struct config_mark mark;
		struct { uint64_t id; uint32_t level; const char *path; } cgroup;
	} arg;
	char comment[96];
};

#define RULES_SETS 4		/* bypass4, bypass6, nameservers4, nameservers6 */

struct rules_set {
	const char *name;
	int family;
	const struct config_prefix *prefixes;	/* borrowed from the config */
	size_t count;
};

struct ruleset {
	struct rule *rules;	/* in order, both chains */
	size_t count;
	struct rules_set sets[RULES_SETS];	/* count 0: not in use */
	uint32_t mark_mask, mark_passed, mark_answered;
	uint16_t zone;
	uint16_t queue_number;
	uint16_t queue_count;	/* > 1: spread by CPU (fanout) */
	bool queue_bypass;
};

/*
 * Borrows config.  cgroup paths are looked up below the cgroup v2 mount: one
 * that is not there is an error in diag, with the config's line.
 * Returns 0, -EINVAL (diag says why) or -ENOMEM.
 */
int ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag) __attribute__((warn_unused_result));
void ruleset_free(struct ruleset *set);

/* In nft(8) syntax, with the native queue statement.  0 or a negative errno. */
int ruleset_print(const struct ruleset *set, FILE *out);

/* The mark that a canary question's socket has to carry: all three bits. */
uint32_t ruleset_canary_mark(const struct config *config);

#endif
