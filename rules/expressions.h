/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rule as the kernel's expressions, the same that nft(8) would make. */
#ifndef NFDNS_RULES_EXPRESSIONS_H
#define NFDNS_RULES_EXPRESSIONS_H

#include <stdio.h>

#include <libnftnl/rule.h>

#include "rules/ruleset.h"

/* How a packet gets to its queue. */
enum queue_form {
	QUEUE_NATIVE,		/* nft's own expression (CONFIG_NFT_QUEUE) */
	QUEUE_XT,		/* the xt target NFQUEUE through nft_compat */
};

/* Names by which the kernel knows the two forms. */
#define EXPRESSION_QUEUE	"queue"
#define EXPRESSION_TARGET	"target"
#define EXPRESSION_TPROXY	"tproxy"
#define XT_TARGET_NFQUEUE	"NFQUEUE"

/*
 * The rule as it is to be in the kernel, table, chain and comment included;
 * the caller's to free with nftnl_rule_free().  NULL: out of memory.
 */
struct nftnl_rule *expressions_rule(const struct ruleset *set,
    const struct rule *rule, enum queue_form form);

/* The number by which nft(8) knows the type of a set's addresses. */
uint32_t expressions_key_type(int family);

/* The same for the sets of connections, and the length of their keys. */
uint32_t expressions_stream_type(bool ipv4);
uint32_t expressions_stream_length(bool ipv4);

/* The same for the set of users, of uid_t. */
#define EXPRESSIONS_USER_TYPE	24

/* The comment of a rule from the kernel; "" when it has none. */
const char *expressions_comment(const struct nftnl_rule *rule);

/*
 * What the rule's counter, *packets, is about; RULES_COUNTERS if nobody asks
 * for it.
 */
enum rules_counter expressions_counter(const struct nftnl_rule *rule,
    uint64_t *packets);

#endif
