/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several rules of the set have in common: conditions and outcomes. */
#ifndef NFDNS_RULES_RULE_KINDS_H
#define NFDNS_RULES_RULE_KINDS_H

#include "rules/rule.h"
#include "rules/ruleset.h"

/*
 * Appends a rule without conditions and statements; ruleset_build() made room
 * for all.  The comment is a format.
 */
struct rule *add_rule(struct ruleset *set, enum rules_chain chain,
    const char *comment, ...) __attribute__((format(printf, 3, 4)));

void when_family(struct rule *rule, bool ipv4);
void when_protocol(struct rule *rule, enum condition_operator operator,
    uint8_t protocol);
void when_port53(struct rule *rule, enum condition_operator operator);
/* UDP, or TCP, to port 53. */
void when_question(struct rule *rule);
void when_connection(struct rule *rule);
/* Our own bits of the mark have, or have not, that value. */
void when_marked(struct rule *rule, const struct ruleset *set,
    enum condition_operator operator, uint32_t value);
/* Appends a rule for packets whose mark has that value in our own bits. */
struct rule *add_marked(struct ruleset *set, enum rules_chain chain,
    uint32_t value, const char *comment);
/* Given to the queue as a question, whatever else its mark says. */
void when_passed(struct rule *rule, const struct ruleset *set);
/* Sent by a socket of this network namespace that a program has open. */
void when_owned(struct rule *rule);
/* To an address in the set of that family. */
void when_destination_in(struct rule *rule, const struct address_set *set);
/* Of TCP flags FIN, SYN, RST and ACK, it has SYN alone. */
void when_first(struct rule *rule, enum condition_operator operator);

/* Appends rules by which what is not DNS leaves the chain at once. */
void add_not_dns(struct ruleset *set, enum rules_chain chain);

/*
 * New connections a second that fill a quarter of the sets of connections, if none gets
 * beyond its first packet.
 */
uint32_t connection_rate(const struct ruleset *set);

/* A statement without values. */
void then(struct rule *rule, enum statement_kind kind);
/* Counted, and on its way. */
void then_accept(struct rule *rule);
/* Counted, and gone. */
void then_drop(struct rule *rule);
void then_set_bits(struct rule *rule, uint32_t bits);
void then_clear_bits(struct rule *rule, uint32_t bits);
/* Counted, and to the queue. */
void then_queue(struct rule *rule, const struct ruleset *set);

#endif
