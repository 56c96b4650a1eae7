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
count(struct maker *maker)
{
	maker_add(maker, "counter");
}

/* mark = (mark & mask) ^ flip */
static void
change_mark(struct maker *maker, uint32_t mask, uint32_t flip)
{
	maker_load_meta(maker, NFT_META_MARK);
	maker_change_bits(maker, mask, flip);
	maker_add(maker, "meta");
	maker_put_u32(maker, NFTNL_EXPR_META_KEY, NFT_META_MARK);
	maker_put_u32(maker, NFTNL_EXPR_META_SREG, NFT_REG_1);
}

static void
queue_native(struct maker *maker, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFT_QUEUE_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFT_QUEUE_FLAG_CPU_FANOUT : 0U);

	maker_add(maker, EXPRESSION_QUEUE);
	maker_put_u16(maker, NFTNL_EXPR_QUEUE_NUM, set->queue_number);
	maker_put_u16(maker, NFTNL_EXPR_QUEUE_TOTAL, set->queue_count);
	maker_put_u16(maker, NFTNL_EXPR_QUEUE_FLAGS, (uint16_t)flags);
}

static void
queue_xt(struct maker *maker, const struct ruleset *set)
{
	unsigned int flags = (set->queue_bypass ? NFQ_FLAG_BYPASS : 0U) |
	    (set->queue_count > 1 ? NFQ_FLAG_CPU_FANOUT : 0U);
	union xt_nfqueue *target;

	maker_add(maker, EXPRESSION_TARGET);
	maker_put_string(maker, NFTNL_EXPR_TG_NAME, XT_TARGET_NFQUEUE);
	maker_put_u32(maker, NFTNL_EXPR_TG_REV, 3);
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
	maker_put(maker, NFTNL_EXPR_TG_INFO, target, sizeof(*target));
	if (maker->failed)
		free(target);
}	/* NOLINT(clang-analyzer-unix.Malloc) */

static void
set_zone(struct maker *maker, uint16_t zone)
{
	uint8_t direction = IP_CT_DIR_ORIGINAL;

	maker_add(maker, "immediate");
	maker_put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	maker_put(maker, NFTNL_EXPR_IMM_DATA, &zone, sizeof(zone));
	maker_add(maker, "ct");
	maker_put_u32(maker, NFTNL_EXPR_CT_KEY, NFT_CT_ZONE);
	maker_put(maker, NFTNL_EXPR_CT_DIR, &direction, sizeof(direction));
	maker_put_u32(maker, NFTNL_EXPR_CT_SREG, NFT_REG_1);
}

static void
put_verdict(struct maker *maker, uint32_t verdict)
{
	maker_add(maker, "immediate");
	maker_put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	maker_put_u32(maker, NFTNL_EXPR_IMM_VERDICT, verdict);
}

/*
 * Adds the packet's connection to the set, renews it there, or deletes it.  The
 * key is loaded again where a lookup had it already, as nft(8) does.
 */
static void
change_streams(struct maker *maker, const struct rule *rule)
{
	bool ipv4 = rules_is_ipv4(rule->match);
	uint32_t operation = rule->action == ACTION_FORGET ?
	    NFT_DYNSET_OP_DELETE : NFT_DYNSET_OP_UPDATE;

	match_load_stream(maker, ipv4, rules_is_reply(rule->match));
	maker_add(maker, "dynset");
	maker_put_u32(maker, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_DYNSET_OP, operation);
	maker_put_string(maker, NFTNL_EXPR_DYNSET_SET_NAME,
	    match_streams_name(ipv4));
	if (rule->seconds > 0)
		maker_put_u64(maker, NFTNL_EXPR_DYNSET_TIMEOUT,
		    (uint64_t)rule->seconds * 1000);
}

static void
tproxy(struct maker *maker, const struct ruleset *set, bool ipv4)
{
	const struct in_addr address4 = { htonl(INADDR_LOOPBACK) };
	const struct in6_addr address6 = IN6ADDR_LOOPBACK_INIT;
	uint16_t port = htons(set->stream_port);

	maker_add(maker, "immediate");
	maker_put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	if (ipv4)
		maker_put(maker, NFTNL_EXPR_IMM_DATA, &address4,
		    sizeof(address4));
	else
		maker_put(maker, NFTNL_EXPR_IMM_DATA, &address6,
		    sizeof(address6));
	maker_add(maker, "immediate");
	maker_put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_2);
	maker_put(maker, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
	maker_add(maker, EXPRESSION_TPROXY);
	maker_put_u32(maker, NFTNL_EXPR_TPROXY_FAMILY,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	maker_put_u32(maker, NFTNL_EXPR_TPROXY_REG_ADDR, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_2);
}

/*
 * Goes on with the rule if the user of the packet's socket has no budget left.
 * It does not if there is no socket, so no user, or no room in the set.
 */
static void
match_surplus(struct maker *maker, uint32_t rate)
{
	struct nftnl_expr *limit = nftnl_expr_alloc("limit");

	maker_load_meta(maker, NFT_META_SKUID);
	maker_add(maker, "dynset");
	maker_put_u32(maker, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
	maker_put_string(maker, NFTNL_EXPR_DYNSET_SET_NAME, RULES_USERS);
	if (maker->failed || limit == NULL) {
		if (limit != NULL)
			nftnl_expr_free(limit);
		maker->failed = true;
		return;
	}
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_RATE, rate);
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_UNIT, 1);	/* second */
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_BURST, rate);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_TYPE, NFT_LIMIT_PKTS);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_FLAGS, NFT_LIMIT_F_INV);
	nftnl_expr_add_expr(maker->last, NFTNL_EXPR_DYNSET_EXPR, limit);
}

static void
make_action_tcp(struct maker *maker, const struct ruleset *set,
    const struct rule *rule, enum queue_form form)
{
	count(maker);
	switch (rule->action) {
	case ACTION_QUEUE_STREAM:
		if (form == QUEUE_NATIVE)
			queue_native(maker, set);
		else
			queue_xt(maker, set);
		break;
	case ACTION_REMEMBER:
	case ACTION_RENEW:
	case ACTION_FORGET:
		change_streams(maker, rule);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_RENEW_DIVERT:
		change_streams(maker, rule);
		change_mark(maker, ~set->mark_stream, set->mark_stream);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_DIVERT:
		change_mark(maker, ~set->mark_stream, set->mark_stream);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_RELEASE:
		change_mark(maker, ~set->mark_mask, 0);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_TPROXY:
		tproxy(maker, set, rules_is_ipv4(rule->match));
		put_verdict(maker, NF_ACCEPT);
		break;
	default:
		break;
	}
}

static void
make_action(struct maker *maker, const struct ruleset *set,
    const struct rule *rule, enum queue_form form)
{
	switch (rule->action) {
	case ACTION_ACCEPT:
		count(maker);
		put_verdict(maker, NF_ACCEPT);
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
	case ACTION_CLEAR:
		count(maker);
		if (rule->action == ACTION_SET_ZONE)
			set_zone(maker, set->zone);
		change_mark(maker, ~set->mark_mask, 0);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_NOTRACK:
		count(maker);
		maker_add(maker, "notrack");
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_SURPLUS:
	case ACTION_SURPLUS_MARKED:
		match_surplus(maker, set->user_rate);
		if (rule->action == ACTION_SURPLUS_MARKED)
			change_mark(maker, ~set->mark_passed,
			    set->mark_passed);
		count(maker);
		put_verdict(maker, NF_ACCEPT);
		break;
	default:
		make_action_tcp(maker, set, rule, form);
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
	if (nftnl_rule_set_str(maker.rule, NFTNL_RULE_TABLE,
	    RULES_TABLE) != 0 || nftnl_rule_set_str(maker.rule,
	    NFTNL_RULE_CHAIN, rules_chain_form(rule->chain)->name) != 0)
		maker.failed = true;
	put_comment(&maker, rule->comment);
	match_make(&maker, set, rule);
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
