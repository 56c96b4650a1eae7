/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions of libnftnl, added to a rule one by one, with a sticky error. */
#ifndef NFDNS_RULES_MAKER_H
#define NFDNS_RULES_MAKER_H

#include <linux/netfilter/nf_tables.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <libnftnl/expr.h>
#include <libnftnl/rule.h>

/*
 * A rule in the making.  Once something failed, the rest does nothing; the
 * failure is looked at once, at the end.
 */
struct maker {
	struct nftnl_rule *rule;
	struct nftnl_expr *last;	/* which maker_put*() are about */
	bool failed;
};

/* The next expression of the rule, and its attributes. */
void maker_add(struct maker *maker, const char *name);
void maker_put(struct maker *maker, uint16_t attribute, const void *data,
    size_t size);
void maker_put_u16(struct maker *maker, uint16_t attribute, uint16_t value);
void maker_put_u32(struct maker *maker, uint16_t attribute, uint32_t value);
void maker_put_u64(struct maker *maker, uint16_t attribute, uint64_t value);
void maker_put_string(struct maker *maker, uint16_t attribute,
    const char *value);

/* Single values go through register 1, as nft(8) does it. */
void maker_load_meta(struct maker *maker, enum nft_meta_keys key);
void maker_load_payload_to(struct maker *maker, uint32_t reg,
    enum nft_payload_bases base, uint32_t offset, uint32_t size);
void maker_load_payload(struct maker *maker, enum nft_payload_bases base,
    uint32_t offset, uint32_t size);
void maker_compare(struct maker *maker, enum nft_cmp_ops operation,
    const void *data, size_t size);

/* register = (register & mask) ^ flip */
void maker_change_octets(struct maker *maker, const void *mask,
    const void *flip, size_t size);
void maker_change_bits(struct maker *maker, uint32_t mask, uint32_t flip);

#endif
