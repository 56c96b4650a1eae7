/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of rules (enum rule_match) as the kernel's expressions. */
#ifndef NFDNS_RULES_MATCH_H
#define NFDNS_RULES_MATCH_H

#include <stdbool.h>

#include "rules/netlink/expr_builder.h"
#include "rules/ruleset.h"

/* Adds what the packet has to be for the rule to apply. */
void match_make(struct expr_builder *b, const struct ruleset *set,
    const struct rule *rule);

/*
 * Loads the key of the sets of connections from register 1 on, of a packet of
 * the client or, the other way round, of our side.
 */
void match_load_stream(struct expr_builder *b, bool ipv4, bool reply);

/* The name of the set of connections. */
const char *match_streams_name(bool ipv4);

#endif
