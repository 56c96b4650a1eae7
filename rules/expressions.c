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
#include "rules/match.h"

/* The target's data as x_tables lays it out: XT_ALIGN'ed to 8 octets. */
union xt_nfqueue {
	struct xt_NFQ_info_v3 info;
	uint8_t octets[XT_ALIGN(sizeof(struct xt_NFQ_info_v3))];
};

static void
count(struct expr_builder *b)
{
	expr_add(b, "counter");
}

/* mark = (mark & mask) ^ flip */
static void
change_mark(struct expr_builder *b, uint32_t mask, uint32_t flip)
{
	expr_load_meta(b, NFT_META_MARK);
	expr_change_bits(b, mask, flip);
	expr_add(b, "meta");
	expr_put_u32(b, NFTNL_EXPR_META_KEY, NFT_META_MARK);
	expr_put_u32(b, NFTNL_EXPR_META_SREG, NFT_REG_1);
}

static void
queue_native(struct expr_builder *b, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFT_QUEUE_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFT_QUEUE_FLAG_CPU_FANOUT : 0U);

	expr_add(b, EXPRESSION_QUEUE);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_NUM, set->queue_number);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_TOTAL, set->queue_count);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_FLAGS, (uint16_t)flags);
}

static void
queue_xt(struct expr_builder *b, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFQ_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFQ_FLAG_CPU_FANOUT : 0U);
	union xt_nfqueue *target;

	expr_add(b, EXPRESSION_TARGET);
	expr_put_string(b, NFTNL_EXPR_TG_NAME, XT_TARGET_NFQUEUE);
	expr_put_u32(b, NFTNL_EXPR_TG_REV, 3);
	if (b->failed)
		return;
	target = calloc(1, sizeof(*target));
	if (target == NULL) {
		b->failed = true;
		return;
	}
	target->info.queuenum = set->queue_number;
	target->info.queues_total = set->queue_count;
	target->info.flags = (uint16_t)flags;
	/*
	 * libnftnl keeps this pointer and frees it with the expression; its
	 * const parameter hides that from the analyser.
	 */
	expr_put(b, NFTNL_EXPR_TG_INFO, target, sizeof(*target));
	if (b->failed)
		free(target);
}	/* NOLINT(clang-analyzer-unix.Malloc) */

static void
set_zone(struct expr_builder *b, uint16_t zone)
{
	uint8_t direction = IP_CT_DIR_ORIGINAL;

	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	expr_put(b, NFTNL_EXPR_IMM_DATA, &zone, sizeof(zone));
	expr_add(b, "ct");
	expr_put_u32(b, NFTNL_EXPR_CT_KEY, NFT_CT_ZONE);
	expr_put(b, NFTNL_EXPR_CT_DIR, &direction, sizeof(direction));
	expr_put_u32(b, NFTNL_EXPR_CT_SREG, NFT_REG_1);
}

static void
put_verdict(struct expr_builder *b, uint32_t verdict)
{
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	expr_put_u32(b, NFTNL_EXPR_IMM_VERDICT, verdict);
}

/*
 * Adds the packet's connection to the set, renews it there, or deletes it.  The
 * key is loaded again where a lookup had it already, as nft(8) does.
 */
static void
change_streams(struct expr_builder *b, const struct rule *rule)
{
	bool ipv4 = rules_is_ipv4(rule->match);
	uint32_t operation = rule->action == ACTION_FORGET ?
	    NFT_DYNSET_OP_DELETE : NFT_DYNSET_OP_UPDATE;

	match_load_stream(b, ipv4, rules_is_reply(rule->match));
	expr_add(b, "dynset");
	expr_put_u32(b, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_DYNSET_OP, operation);
	expr_put_string(b, NFTNL_EXPR_DYNSET_SET_NAME,
	    match_streams_name(ipv4));
	if (rule->seconds > 0)
		expr_put_u64(b, NFTNL_EXPR_DYNSET_TIMEOUT,
		    (uint64_t)rule->seconds * 1000);
}

static void
tproxy(struct expr_builder *b, const struct ruleset *set, bool ipv4)
{
	const struct in_addr address4 = { htonl(INADDR_LOOPBACK) };
	const struct in6_addr address6 = IN6ADDR_LOOPBACK_INIT;
	uint16_t port = htons(set->stream_port);

	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	if (ipv4)
		expr_put(b, NFTNL_EXPR_IMM_DATA, &address4,
		    sizeof(address4));
	else
		expr_put(b, NFTNL_EXPR_IMM_DATA, &address6,
		    sizeof(address6));
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_2);
	expr_put(b, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
	expr_add(b, EXPRESSION_TPROXY);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_FAMILY,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_REG_ADDR, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_2);
}

/*
 * Goes on with the rule if the user of the packet's socket has no budget left.
 * It does not if there is no socket, so no user, or no room in the set.
 */
static void
match_surplus(struct expr_builder *b, uint32_t rate)
{
	struct nftnl_expr *limit = nftnl_expr_alloc("limit");

	expr_load_meta(b, NFT_META_SKUID);
	expr_add(b, "dynset");
	expr_put_u32(b, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
	expr_put_string(b, NFTNL_EXPR_DYNSET_SET_NAME, RULES_USERS);
	if (b->failed || limit == NULL) {
		if (limit != NULL)
			nftnl_expr_free(limit);
		b->failed = true;
		return;
	}
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_RATE, rate);
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_UNIT, 1);	/* second */
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_BURST, rate);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_TYPE, NFT_LIMIT_PKTS);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_FLAGS, NFT_LIMIT_F_INV);
	nftnl_expr_add_expr(b->last, NFTNL_EXPR_DYNSET_EXPR, limit);
}

static void
make_action_tcp(struct expr_builder *b, const struct ruleset *set,
    const struct rule *rule, enum queue_form form)
{
	count(b);
	switch (rule->action) {
	case ACTION_QUEUE_STREAM:
		if (form == QUEUE_NATIVE)
			queue_native(b, set);
		else
			queue_xt(b, set);
		break;
	case ACTION_REMEMBER:
	case ACTION_RENEW:
	case ACTION_FORGET:
		change_streams(b, rule);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_RENEW_DIVERT:
		change_streams(b, rule);
		change_mark(b, ~set->mark_stream, set->mark_stream);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_DIVERT:
		change_mark(b, ~set->mark_stream, set->mark_stream);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_RELEASE:
		change_mark(b, ~set->mark_mask, 0);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_TPROXY:
		tproxy(b, set, rules_is_ipv4(rule->match));
		put_verdict(b, NF_ACCEPT);
		break;
	default:
		break;
	}
}

static void
make_action(struct expr_builder *b, const struct ruleset *set,
    const struct rule *rule, enum queue_form form)
{
	switch (rule->action) {
	case ACTION_ACCEPT:
		count(b);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_QUEUE:
		/* The mark first: the queue takes the packet with it. */
		change_mark(b, rule->canary ? ~set->mark_mask :
		    ~set->mark_passed, set->mark_passed);
		count(b);
		if (form == QUEUE_NATIVE)
			queue_native(b, set);
		else
			queue_xt(b, set);
		break;
	case ACTION_SET_ZONE:
	case ACTION_CLEAR:
		count(b);
		if (rule->action == ACTION_SET_ZONE)
			set_zone(b, set->zone);
		change_mark(b, ~set->mark_mask, 0);
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_NOTRACK:
		count(b);
		expr_add(b, "notrack");
		put_verdict(b, NF_ACCEPT);
		break;
	case ACTION_SURPLUS:
	case ACTION_SURPLUS_MARKED:
		match_surplus(b, set->user_rate);
		if (rule->action == ACTION_SURPLUS_MARKED)
			change_mark(b, ~set->mark_passed,
			    set->mark_passed);
		count(b);
		put_verdict(b, NF_ACCEPT);
		break;
	default:
		make_action_tcp(b, set, rule, form);
		break;
	}
}

static void
put_comment(struct expr_builder *b, const char *comment)
{
	struct nftnl_udata_buf *data =
	    nftnl_udata_buf_alloc(NFT_USERDATA_MAXLEN);

	if (data == NULL || !nftnl_udata_put_strz(data,
	    NFTNL_UDATA_RULE_COMMENT, comment) ||
	    nftnl_rule_set_data(b->rule, NFTNL_RULE_USERDATA,
	    nftnl_udata_buf_data(data), nftnl_udata_buf_len(data)) != 0)
		b->failed = true;
	if (data != NULL)
		nftnl_udata_buf_free(data);
}

struct nftnl_rule *
expressions_rule(const struct ruleset *set, const struct rule *rule,
    enum queue_form form)
{
	struct expr_builder b = { .rule = nftnl_rule_alloc() };

	if (b.rule == NULL)
		return NULL;
	nftnl_rule_set_u32(b.rule, NFTNL_RULE_FAMILY, NFPROTO_INET);
	if (nftnl_rule_set_str(b.rule, NFTNL_RULE_TABLE,
	    RULES_TABLE) != 0 || nftnl_rule_set_str(b.rule,
	    NFTNL_RULE_CHAIN, rules_chain_form(rule->chain)->name) != 0)
		b.failed = true;
	put_comment(&b, rule->comment);
	match_make(&b, set, rule);
	make_action(&b, set, rule, form);
	if (!b.failed)
		return b.rule;
	nftnl_rule_free(b.rule);
	return NULL;
}

uint32_t
expressions_key_type(int family)
{
	/* ipv4_addr and ipv6_addr; the kernel only keeps them for nft(8). */
	return family == AF_INET ? 7 : 8;
}

/* A concatenation's types have six bits each: address, service, address. */
uint32_t
expressions_stream_type(bool ipv4)
{
	uint32_t address = expressions_key_type(ipv4 ? AF_INET : AF_INET6);

	return address << 12 | 13 << 6 | address;
}

uint32_t
expressions_stream_length(bool ipv4)
{
	return ipv4 ? 4 + 4 + 4 : 16 + 4 + 16;
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
	const void *data = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA,
	    &size);

	if (data != NULL)
		(void)nftnl_udata_parse(data, size, take_comment, &comment);
	return comment;
}

enum rules_counter
expressions_counter(const struct nftnl_rule *rule, uint64_t *packets)
{
	const char *comment = expressions_comment(rule);
	struct nftnl_expr_iter *expressions = nftnl_expr_iter_create(rule);
	const struct nftnl_expr *expression;
	bool queues = false;

	*packets = 0;
	if (expressions == NULL)
		return RULES_COUNTERS;
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
	if (strcmp(comment, RULES_COMMENT_FULL) == 0)
		return COUNTER_STREAMS_FULL;
	if (strncmp(comment, RULES_COMMENT_SURPLUS,
	    sizeof(RULES_COMMENT_SURPLUS) - 1) == 0)
		return COUNTER_SURPLUS;
	return queues && strcmp(comment, RULES_COMMENT_CANARY) != 0 &&
	    strcmp(comment, RULES_COMMENT_REPEATED) != 0 ?
	    COUNTER_QUESTIONS : RULES_COUNTERS;
}
