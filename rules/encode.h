/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions and statements as expressions of the kernel, the same that nft(8)
 * would make.  Each call appends to the rule that the builder holds.
 */
#ifndef NFDNS_RULES_ENCODE_H
#define NFDNS_RULES_ENCODE_H

#include "rules/netlink/expr_builder.h"
#include "rules/rule.h"

/* How a packet gets to its queue. */
enum queue_form {
	QUEUE_NATIVE,		/* nft's own expression (CONFIG_NFT_QUEUE) */
	QUEUE_XT,		/* the xt target NFQUEUE through nft_compat */
};

/* Names by which the kernel knows the two forms. */
#define EXPRESSION_QUEUE	"queue"
#define EXPRESSION_TARGET	"target"
#define EXPRESSION_TPROXY	"tproxy"
#define EXPRESSION_DUP		"dup"
#define XT_TARGET_NFQUEUE	"NFQUEUE"

void condition_encode(struct expr_builder *b,
    const struct condition *condition);
void statement_encode(struct expr_builder *b, const struct statement *statement,
    enum queue_form form);

/* Loads all of a subject from register 1 on. */
void subject_load(struct expr_builder *b, enum subject subject);

#endif
