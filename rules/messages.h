/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The netlink messages of which a batch is made: table, chains, sets, rules. */
#ifndef NFDNS_RULES_MESSAGES_H
#define NFDNS_RULES_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/batch.h"
#include "rules/expressions.h"
#include "rules/ruleset.h"

/* Each adds to the batch, which keeps the first error (batch.h). */

/* A message that names the table, and nothing else or a chain or a set. */
void message_name(struct batch *batch, uint16_t type,
    enum batch_subject subject, uint16_t attribute, const char *name);

/* The table, with the owner flag or without. */
void message_table(struct batch *batch, bool owner);

/* A base chain without rules. */
void message_chain(struct batch *batch, enum rules_chain which);

/* The sets of addresses that are in use, and their elements. */
void message_sets(struct batch *batch, const struct ruleset *set);

/* The rules of one chain, behind those that it has. */
void message_rules(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain, enum queue_form form);

/* The first of them alone, before those that the chain has. */
void message_first_rule(struct batch *batch, const struct ruleset *set,
    enum rules_chain chain);

/* A set of connections, which the rules fill: of fixed size, with time-outs. */
void message_streams(struct batch *batch, const struct ruleset *set, bool ipv4,
    uint32_t id);

/* The set of users, which the rules fill too. */
void message_users(struct batch *batch, uint32_t id);

#endif
