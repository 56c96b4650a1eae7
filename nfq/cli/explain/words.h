/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of explanations in words. */
#ifndef NFDNS_NFQ_CLI_EXPLAIN_WORDS_H
#define NFDNS_NFQ_CLI_EXPLAIN_WORDS_H

#include "nfq/cli/explain/explain.h"

/* "user 33 (www-data), group 33"; lives as long as buf. */
#define WORDS_ASKER	192
const char *words_asker(const struct explain_question *question,
    char buf[static WORDS_ASKER]);

/* How a name was found, behind the name: "is in the table"; and in one word. */
const char *words_found(enum entry_kind kind);
const char *words_kind(enum entry_kind kind);

/* Why, as a sentence's half: "the table has records of this type". */
const char *words_reason(enum reason reason);

/*
 * Why a rule of the policy does not match: "user 33 is none of its users".
 * Lives as long as buf.
 */
#define WORDS_MISS	128
const char *words_miss(const struct explanation *e,
    const struct rules_miss *miss, char buf[static WORDS_MISS]);

/* The option that says the condition: "users", of "match". */
const char *words_key(enum rule_key key);

/* What a rule does: "nxdomain", "10.1.1.1", "only A"; lives as long as buf. */
#define WORDS_ACTION	320
const char *words_action(const struct rules_rule *rule,
    char buf[static WORDS_ACTION]);

#endif
