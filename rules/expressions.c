/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/x_tables.h>
#include <linux/netfilter/xt_NFQUEUE.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnftnl/expr.h>
#include <libnftnl/udata.h>

#include "rules/expressions.h"

/* Where the addresses and ports stand in the headers; octets. */
#define IPV4_DESTINATION	16
#define IPV6_DESTINATION	24
#define PORT_DESTINATION	2

/* The target's data as x_tables lays it out: XT_ALIGN'ed to 8 octets. */
union xt_nfqueue {
	struct xt_NFQ_info_v3 info;
	uint8_t octets[XT_ALIGN(sizeof(struct xt_NFQ_info_v3))];
};

/*
 * A rule in the making.  Once something failed, the rest does nothing; the
 * failure is looked at once, at the end.
 */
struct maker {
	struct nftnl_rule *rule;
	struct nftnl_expr *last;	/* which put_*() are about */
	bool failed;
};

static void
add(struct maker *maker, const char *name)
{
	if (maker->failed)
		return;
	maker->last = nftnl_expr_alloc(name);
	if (maker->last == NULL)
		maker->failed = true;
	else
		nftnl_rule_add_expr(maker->rule, maker->last);
}

static void
put(struct maker *maker, uint16_t attribute, const void *data, size_t size)
{
	if (!maker->failed && nftnl_expr_set(maker->last, attribute, data,
	    (uint32_t)size) != 0)
		maker->failed = true;
}

static void
put_u16(struct maker *maker, uint16_t attribute, uint16_t value)
{
	put(maker, attribute, &value, sizeof(value));
}

static void
put_u32(struct maker *maker, uint16_t attribute, uint32_t value)
{
	put(maker, attribute, &value, sizeof(value));
}

static void
put_string(struct maker *maker, uint16_t attribute, const char *value)
{
	put(maker, attribute, value, strlen(value) + 1);
}

/* Everything goes through register 1, as nft(8) does it. */

static void
load_meta(struct maker *maker, enum nft_meta_keys key)
{
	add(maker, "meta");
	put_u32(maker, NFTNL_EXPR_META_KEY, key);
	put_u32(maker, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

static void
load_payload(struct maker *maker, enum nft_payload_bases base, uint32_t offset,
    uint32_t size)
{
	add(maker, "payload");
	put_u32(maker, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_BASE, base);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_LEN, size);
}

static void
compare(struct maker *maker, enum nft_cmp_ops operation, const void *data,
    size_t size)
{
	add(maker, "cmp");
	put_u32(maker, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_CMP_OP, operation);
	put(maker, NFTNL_EXPR_CMP_DATA, data, size);
}

/* register = (register & mask) ^ flip */
static void
change_bits(struct maker *maker, uint32_t mask, uint32_t flip)
{
	add(maker, "bitwise");
	put_u32(maker, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_BITWISE_LEN, sizeof(mask));
	put(maker, NFTNL_EXPR_BITWISE_MASK, &mask, sizeof(mask));
	put(maker, NFTNL_EXPR_BITWISE_XOR, &flip, sizeof(flip));
}

static void
match_meta_u32(struct maker *maker, enum nft_meta_keys key, uint32_t value)
{
	load_meta(maker, key);
	compare(maker, NFT_CMP_EQ, &value, sizeof(value));
}

static void
match_meta_u8(struct maker *maker, enum nft_meta_keys key,
    enum nft_cmp_ops operation, uint8_t value)
{
	load_meta(maker, key);
	compare(maker, operation, &value, sizeof(value));
}

static void
match_mark(struct maker *maker, const struct config_mark *mark)
{
	load_meta(maker, NFT_META_MARK);
	if (mark->mask != UINT32_MAX)
		change_bits(maker, mark->mask, 0);
	compare(maker, NFT_CMP_EQ, &mark->value, sizeof(mark->value));
}

static void
match_port53(struct maker *maker, enum nft_cmp_ops operation)
{
	uint16_t port = htons(53);

	load_payload(maker, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION,
	    sizeof(port));
	compare(maker, operation, &port, sizeof(port));
}

static void
match_question(struct maker *maker)
{
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_UDP);
	match_port53(maker, NFT_CMP_EQ);
}

static void
match_destination(struct maker *maker, const struct address_set *set)
{
	if (set->family == AF_INET) {
		match_meta_u8(maker, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV4);
		load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV4_DESTINATION, 4);
	} else {
		match_meta_u8(maker, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV6);
		load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV6_DESTINATION, 16);
	}
	add(maker, "lookup");
	put_u32(maker, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	put_string(maker, NFTNL_EXPR_LOOKUP_SET, set->name);
}

static void
match_cgroup(struct maker *maker, uint64_t id, uint32_t level)
{
	add(maker, "socket");
	put_u32(maker, NFTNL_EXPR_SOCKET_KEY, NFT_SOCKET_CGROUPV2);
	put_u32(maker, NFTNL_EXPR_SOCKET_DREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_SOCKET_LEVEL, level);
	compare(maker, NFT_CMP_EQ, &id, sizeof(id));
}

static void
make_match(struct maker *maker, const struct ruleset *set,
    const struct rule *rule)
{
	const struct config_mark canary = { set->mark_mask, set->mark_mask };

	switch (rule->match) {
	case MATCH_NOT_UDP:
		match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_NEQ, IPPROTO_UDP);
		break;
	case MATCH_NOT_PORT53:
		match_port53(maker, NFT_CMP_NEQ);
		break;
	case MATCH_USER:
		match_meta_u32(maker, NFT_META_SKUID, rule->arg.id);
		break;
	case MATCH_GROUP:
		match_meta_u32(maker, NFT_META_SKGID, rule->arg.id);
		break;
	case MATCH_MARK:
		match_mark(maker, &rule->arg.mark);
		break;
	case MATCH_CGROUP:
		match_cgroup(maker, rule->arg.cgroup.id,
		    rule->arg.cgroup.level);
		break;
	case MATCH_CLASSID:
		match_meta_u32(maker, NFT_META_CGROUP, rule->arg.id);
		break;
	case MATCH_DESTINATION4:
	case MATCH_DESTINATION6:
		match_destination(maker, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_NAMESERVER4:
	case MATCH_NAMESERVER6:
		match_question(maker);
		match_destination(maker, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_QUESTION:
		if (rule->canary)
			match_mark(maker, &canary);
		match_question(maker);
		break;
	}
}

static void
count(struct maker *maker)
{
	add(maker, "counter");
}

/* mark = (mark & mask) ^ flip */
static void
change_mark(struct maker *maker, uint32_t mask, uint32_t flip)
{
	load_meta(maker, NFT_META_MARK);
	change_bits(maker, mask, flip);
	add(maker, "meta");
	put_u32(maker, NFTNL_EXPR_META_KEY, NFT_META_MARK);
	put_u32(maker, NFTNL_EXPR_META_SREG, NFT_REG_1);
}

static void
queue_native(struct maker *maker, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFT_QUEUE_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFT_QUEUE_FLAG_CPU_FANOUT : 0U);

	add(maker, EXPRESSION_QUEUE);
	put_u16(maker, NFTNL_EXPR_QUEUE_NUM, set->queue_number);
	put_u16(maker, NFTNL_EXPR_QUEUE_TOTAL, set->queue_count);
	put_u16(maker, NFTNL_EXPR_QUEUE_FLAGS, (uint16_t)flags);
}

static void
queue_xt(struct maker *maker, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFQ_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFQ_FLAG_CPU_FANOUT : 0U);
	union xt_nfqueue *target;

	add(maker, EXPRESSION_TARGET);
	put_string(maker, NFTNL_EXPR_TG_NAME, XT_TARGET_NFQUEUE);
	put_u32(maker, NFTNL_EXPR_TG_REV, 3);
	if (maker->failed)
		return;
	target = calloc(1, sizeof(*target));
	if (target == NULL) {
		maker->failed = true;
		return;
	}
	target->info.queuenum = set->queue_number;
	target->info.queues_total = set->queue_count;
	target->info.flags = (uint16_t)flags;
	/*
	 * libnftnl keeps this pointer and frees it with the expression; its
	 * const parameter hides that from the analyser.
	 */
	put(maker, NFTNL_EXPR_TG_INFO, target, sizeof(*target));
	if (maker->failed)
		free(target);
}	/* NOLINT(clang-analyzer-unix.Malloc) */

static void
set_zone(struct maker *maker, uint16_t zone)
{
	uint8_t direction = IP_CT_DIR_ORIGINAL;

	add(maker, "immediate");
	put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	put(maker, NFTNL_EXPR_IMM_DATA, &zone, sizeof(zone));
	add(maker, "ct");
	put_u32(maker, NFTNL_EXPR_CT_KEY, NFT_CT_ZONE);
	put(maker, NFTNL_EXPR_CT_DIR, &direction, sizeof(direction));
	put_u32(maker, NFTNL_EXPR_CT_SREG, NFT_REG_1);
}

static void
make_action(struct maker *maker, const struct ruleset *set,
    const struct rule *rule, enum queue_form form)
{
	switch (rule->action) {
	case ACTION_ACCEPT:
		count(maker);
		add(maker, "immediate");
		put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
		put_u32(maker, NFTNL_EXPR_IMM_VERDICT, NF_ACCEPT);
		break;
	case ACTION_QUEUE:
		/* The mark first: the queue takes the packet with it. */
		change_mark(maker, rule->canary ? ~set->mark_mask :
		    ~set->mark_passed, set->mark_passed);
		count(maker);
		if (form == QUEUE_NATIVE)
			queue_native(maker, set);
		else
			queue_xt(maker, set);
		break;
	case ACTION_SET_ZONE:
		count(maker);
		set_zone(maker, set->zone);
		change_mark(maker, ~set->mark_mask, 0);
		break;
	case ACTION_NOTRACK:
		count(maker);
		add(maker, "notrack");
		break;
	}
}

static void
put_comment(struct maker *maker, const char *comment)
{
	struct nftnl_udata_buf *data =
	    nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);

	if (data == NULL || !nftnl_udata_put_strz(data,
	    NFTNL_UDATA_RULE_COMMENT, comment) ||
	    nftnl_rule_set_data(maker->rule, NFTNL_RULE_USERDATA,
	    nftnl_udata_buf_data(data), nftnl_udata_buf_len(data)) != 0)
		maker->failed = true;
	if (data != NULL)
		nftnl_udata_buf_free(data);
}

struct nftnl_rule *
expressions_rule(const struct ruleset *set, const struct rule *rule,
    enum queue_form form)
{
	struct maker maker = { .rule = nftnl_rule_alloc() };

	if (maker.rule == NULL)
		return NULL;
	nftnl_rule_set_u32(maker.rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
	if (nftnl_rule_set_str(maker.rule, NFTNL_RULE_TABLE, RULES_TABLE) != 0 ||
	    nftnl_rule_set_str(maker.rule, NFTNL_RULE_CHAIN,
	    rules_chain_name(rule->chain)) != 0)
		maker.failed = true;
	put_comment(&maker, rule->comment);
	make_match(&maker, set, rule);
	make_action(&maker, set, rule, form);
	if (!maker.failed)
		return maker.rule;
	nftnl_rule_free(maker.rule);
	return NULL;
}

uint32_t
expressions_key_type(int family)
{
	/* ipv4_addr and ipv6_addr; the kernel only keeps them for nft(8). */
	return family == AF_INET ? 7 : 8;
}

static int
take_comment(const struct nftnl_udata *attribute, void *data)
{
	const char **comment = data;
	const char *text = nftnl_udata_get(attribute);
	uint8_t length = nftnl_udata_len(attribute);

	if (nftnl_udata_type(attribute) == NFTNL_UDATA_RULE_COMMENT &&
	    length > 0 && text[length - 1] == '\0')
		*comment = text;
	return 0;
}

const char *
expressions_comment(const struct nftnl_rule *rule)
{
	const char *comment = "";
	uint32_t size = 0;
	const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA, &size);

	if (data != NULL)
		(void)nftnl_udata_parse(data, size, take_comment, &comment);
	return comment;
}

bool
expressions_counts_questions(const struct nftnl_rule *rule, uint64_t *packets)
{
	struct nftnl_expr_iter *expressions;
	const struct nftnl_expr *expression;
	bool queues = false;

	*packets = 0;
	if (strcmp(expressions_comment(rule), RULES_COMMENT_CANARY) == 0)
		return false;
	expressions = nftnl_expr_iter_create(rule);
	if (expressions == NULL)
		return false;
	while ((expression = nftnl_expr_iter_next(expressions)) != NULL) {
		const char *name = nftnl_expr_get_str(expression,
		    NFTNL_EXPR_NAME);

		if (strcmp(name, "counter") == 0)
			*packets += nftnl_expr_get_u64(expression,
			    NFTNL_EXPR_CTR_PACKETS);
		else if (strcmp(name, EXPRESSION_QUEUE) == 0 ||
		    strcmp(name, EXPRESSION_TARGET) == 0)
			queues = true;
	}
	nftnl_expr_iter_destroy(expressions);
	return queues;
}
