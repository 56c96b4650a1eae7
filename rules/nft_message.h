/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The netlink messages that install a rule set: table, chains, sets, rules.
 * Each function adds to the batch, which keeps the first error (batch.h).
 */
#ifndef NFDNS_RULES_NFT_MESSAGE_H
#define NFDNS_RULES_NFT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/netlink/batch.h"
#include "rules/expressions.h"
#include "rules/ruleset.h"

/* What a message is about: the subject of its batch_part. */
enum message_subject {
	MESSAGE_STALE = BATCH_FRAME + 1, /* deletes a table of an earlier run */
	MESSAGE_TABLE,
	MESSAGE_CHAIN,
	MESSAGE_CLEAR,		/* deletes what our last install added */
	MESSAGE_SET,		/* of addresses */
	MESSAGE_STREAMS,	/* a set of TCP connections */
	MESSAGE_USERS,		/* the set of users */
	MESSAGE_RULE,		/* its item is the struct rule */
};

/*
 * A message with the table's name and, unless name is NULL, the name of a chain
 * or a set as this attribute.
 */
void nft_message_name(struct batch *batch, enum rules_table table,
    uint16_t type, enum message_subject subject, uint16_t attribute,
    const char *name);

/* The table, with the owner flag: it goes with its socket. */
void nft_message_table(struct batch *batch, enum rules_table table);

/* A base chain without rules. */
void nft_message_chain(struct batch *batch, enum rules_chain which);

/* The sets of addresses that have elements, and those elements. */
void nft_message_sets(struct batch *batch, const struct ruleset *set);

/* Appends the rules of one chain. */
void nft_message_rules(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain, enum queue_form form);

/* Inserts the first rule of a chain before the rules that it has. */
void nft_message_first_rule(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain);

/*
 * A set of connections, which the rules fill: of fixed size, with time-outs.
 * id is its number in this batch.
 */
void nft_message_streams(struct batch *batch, const struct ruleset *set,
    bool ipv4, uint32_t id);

/* The set of users with that budget, which the rules fill too. */
void nft_message_users(struct batch *batch, enum user_budget budget,
    uint32_t id);

#endif
