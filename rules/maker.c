/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/maker.h"

#include <string.h>

void
maker_add(struct maker *maker, const char *name)
{
	if (maker->failed)
		return;
	maker->last = nftnl_expr_alloc(name);
	if (maker->last == NULL)
		maker->failed = true;
	else
		nftnl_rule_add_expr(maker->rule, maker->last);
}

void
maker_put(struct maker *maker, uint16_t attribute, const void *data,
    size_t size)
{
	if (!maker->failed && nftnl_expr_set(maker->last, attribute, data,
	    (uint32_t)size) != 0)
		maker->failed = true;
}

void
maker_put_u16(struct maker *maker, uint16_t attribute, uint16_t value)
{
	maker_put(maker, attribute, &value, sizeof(value));
}

void
maker_put_u32(struct maker *maker, uint16_t attribute, uint32_t value)
{
	maker_put(maker, attribute, &value, sizeof(value));
}

void
maker_put_u64(struct maker *maker, uint16_t attribute, uint64_t value)
{
	maker_put(maker, attribute, &value, sizeof(value));
}

void
maker_put_string(struct maker *maker, uint16_t attribute, const char *value)
{
	maker_put(maker, attribute, value, strlen(value) + 1);
}

void
maker_load_meta(struct maker *maker, enum nft_meta_keys key)
{
	maker_add(maker, "meta");
	maker_put_u32(maker, NFTNL_EXPR_META_KEY, key);
	maker_put_u32(maker, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

void
maker_load_payload_to(struct maker *maker, uint32_t reg,
    enum nft_payload_bases base, uint32_t offset, uint32_t size)
{
	maker_add(maker, "payload");
	maker_put_u32(maker, NFTNL_EXPR_PAYLOAD_DREG, reg);
	maker_put_u32(maker, NFTNL_EXPR_PAYLOAD_BASE, base);
	maker_put_u32(maker, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
	maker_put_u32(maker, NFTNL_EXPR_PAYLOAD_LEN, size);
}

void
maker_load_payload(struct maker *maker, enum nft_payload_bases base,
    uint32_t offset, uint32_t size)
{
	maker_load_payload_to(maker, NFT_REG_1, base, offset, size);
}

void
maker_compare(struct maker *maker, enum nft_cmp_ops operation, const void *data,
    size_t size)
{
	maker_add(maker, "cmp");
	maker_put_u32(maker, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_CMP_OP, operation);
	maker_put(maker, NFTNL_EXPR_CMP_DATA, data, size);
}

void
maker_change_octets(struct maker *maker, const void *mask, const void *flip,
    size_t size)
{
	maker_add(maker, "bitwise");
	maker_put_u32(maker, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_BITWISE_LEN, (uint32_t)size);
	maker_put(maker, NFTNL_EXPR_BITWISE_MASK, mask, size);
	maker_put(maker, NFTNL_EXPR_BITWISE_XOR, flip, size);
}

void
maker_change_bits(struct maker *maker, uint32_t mask, uint32_t flip)
{
	maker_change_octets(maker, &mask, &flip, sizeof(mask));
}
