/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds the expressions of a libnftnl rule, one by one. */
#ifndef NFDNS_RULES_NETLINK_EXPR_BUILDER_H
#define NFDNS_RULES_NETLINK_EXPR_BUILDER_H

#include <linux/netfilter/nf_tables.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <libnftnl/expr.h>
#include <libnftnl/rule.h>

/*
 * The first failure sticks: later calls do nothing, and the caller checks
 * "failed" once, at the end.  It is out of memory.
 */
struct expr_builder {
	struct nftnl_rule *rule;
	struct nftnl_expr *last;	/* to which expr_put*() add */
	bool failed;
};

/* Adds an expression to the rule (libnftnl's name), and attributes to that. */
void expr_add(struct expr_builder *b, const char *name);
void expr_put(struct expr_builder *b, uint16_t attribute, const void *data,
    size_t size);
void expr_put_u16(struct expr_builder *b, uint16_t attribute, uint16_t value);
void expr_put_u32(struct expr_builder *b, uint16_t attribute, uint32_t value);
void expr_put_u64(struct expr_builder *b, uint16_t attribute, uint64_t value);
void expr_put_string(struct expr_builder *b, uint16_t attribute,
    const char *value);

/* Loads go to register 1, and comparisons read it, as nft(8) does it. */
void expr_load_meta(struct expr_builder *b, enum nft_meta_keys key);
void expr_load_payload_to(struct expr_builder *b, uint32_t reg,
    enum nft_payload_bases base, uint32_t offset, uint32_t size);
void expr_compare(struct expr_builder *b, enum nft_cmp_ops operation,
    const void *data, size_t size);

/* register = (register & mask) ^ flip */
void expr_change_octets(struct expr_builder *b, const void *mask,
    const void *flip, size_t size);
void expr_change_bits(struct expr_builder *b, uint32_t mask, uint32_t flip);

#endif
