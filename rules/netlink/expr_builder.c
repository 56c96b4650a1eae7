/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/netlink/expr_builder.h"

#include <string.h>

void
expr_add(struct expr_builder *b, const char *name)
{
	if (b->failed)
		return;
	b->last = nftnl_expr_alloc(name);
	if (b->last == NULL)
		b->failed = true;
	else
		nftnl_rule_add_expr(b->rule, b->last);
}

void
expr_put(struct expr_builder *b, uint16_t attribute, const void *data,
    size_t size)
{
	if (!b->failed && nftnl_expr_set(b->last, attribute, data,
	    (uint32_t)size) != 0)
		b->failed = true;
}

void
expr_put_u16(struct expr_builder *b, uint16_t attribute, uint16_t value)
{
	expr_put(b, attribute, &value, sizeof(value));
}

void
expr_put_u32(struct expr_builder *b, uint16_t attribute, uint32_t value)
{
	expr_put(b, attribute, &value, sizeof(value));
}

void
expr_put_u64(struct expr_builder *b, uint16_t attribute, uint64_t value)
{
	expr_put(b, attribute, &value, sizeof(value));
}

void
expr_put_string(struct expr_builder *b, uint16_t attribute, const char *value)
{
	expr_put(b, attribute, value, strlen(value) + 1);
}

void
expr_load_meta(struct expr_builder *b, enum nft_meta_keys key)
{
	expr_add(b, "meta");
	expr_put_u32(b, NFTNL_EXPR_META_KEY, key);
	expr_put_u32(b, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

void
expr_load_payload_to(struct expr_builder *b, uint32_t reg,
    enum nft_payload_bases base, uint32_t offset, uint32_t size)
{
	expr_add(b, "payload");
	expr_put_u32(b, NFTNL_EXPR_PAYLOAD_DREG, reg);
	expr_put_u32(b, NFTNL_EXPR_PAYLOAD_BASE, base);
	expr_put_u32(b, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
	expr_put_u32(b, NFTNL_EXPR_PAYLOAD_LEN, size);
}

void
expr_compare(struct expr_builder *b, enum nft_cmp_ops operation,
    const void *data, size_t size)
{
	expr_add(b, "cmp");
	expr_put_u32(b, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_CMP_OP, operation);
	expr_put(b, NFTNL_EXPR_CMP_DATA, data, size);
}

void
expr_change_octets(struct expr_builder *b, const void *mask, const void *flip,
    size_t size)
{
	expr_add(b, "bitwise");
	expr_put_u32(b, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_BITWISE_LEN, (uint32_t)size);
	expr_put(b, NFTNL_EXPR_BITWISE_MASK, mask, size);
	expr_put(b, NFTNL_EXPR_BITWISE_XOR, flip, size);
}

void
expr_change_bits(struct expr_builder *b, uint32_t mask, uint32_t flip)
{
	expr_change_octets(b, &mask, &flip, sizeof(mask));
}
