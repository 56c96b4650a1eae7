/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/netfilter/x_tables.h>
#include <linux/netfilter/xt_NFQUEUE.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include <libnftnl/expr.h>

#include "rules/nft_message.h"
#include "rules/rule.h"
#include "rules/ruleset.h"

/* The target's data as x_tables lays it out: XT_ALIGN'ed to 8 octets. */
union xt_nfqueue {
	struct xt_NFQ_info_v3 info;
	uint8_t octets[XT_ALIGN(sizeof(struct xt_NFQ_info_v3))];
};

static void
print_counter(const struct statement *statement, FILE *out)
{
	(void)statement;
	fputs(" counter", out);
}

static void
encode_counter(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	(void)statement;
	(void)form;
	expr_add(b, "counter");
}

static void
print_accept(const struct statement *statement, FILE *out)
{
	(void)statement;
	fputs(" accept", out);
}

static void
print_drop(const struct statement *statement, FILE *out)
{
	(void)statement;
	fputs(" drop", out);
}

static void
encode_verdict(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	(void)form;
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	expr_put_u32(b, NFTNL_EXPR_IMM_VERDICT,
	    statement->kind == STATEMENT_DROP ? NF_DROP : NF_ACCEPT);
}

static void
print_queue(const struct statement *statement, FILE *out)
{
	uint16_t number = statement->queue.number;
	uint16_t count = statement->queue.count;
	bool bypass = statement->queue.bypass;

	fputs(" queue", out);
	if (bypass || count > 1)
		fprintf(out, " flags %s%s%s", bypass ? "bypass" : "",
		    bypass && count > 1 ? "," : "", count > 1 ? "fanout" : "");
	fprintf(out, " to %" PRIu16, number);
	if (count > 1)
		fprintf(out, "-%d", number + count - 1);
}

static void
encode_queue_native(struct expr_builder *b, const struct statement *statement)
{
	unsigned int flags =
	    (statement->queue.bypass ? NFT_QUEUE_FLAG_BYPASS : 0U) |
	    (statement->queue.count > 1 ? NFT_QUEUE_FLAG_CPU_FANOUT : 0U);

	expr_add(b, EXPRESSION_QUEUE);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_NUM, statement->queue.number);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_TOTAL, statement->queue.count);
	expr_put_u16(b, NFTNL_EXPR_QUEUE_FLAGS, (uint16_t)flags);
}

static void
encode_queue_xt(struct expr_builder *b, const struct statement *statement)
{
	unsigned int flags = (statement->queue.bypass ? NFQ_FLAG_BYPASS : 0U) |
	    (statement->queue.count > 1 ? NFQ_FLAG_CPU_FANOUT : 0U);
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
	target->info.queuenum = statement->queue.number;
	target->info.queues_total = statement->queue.count;
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
encode_queue(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	if (form == QUEUE_NATIVE)
		encode_queue_native(b, statement);
	else
		encode_queue_xt(b, statement);
}

/* nft has "or" for the kernel's exclusive one: it clears those bits first. */
static void
print_mark(const struct statement *statement, FILE *out)
{
	uint32_t flip = statement->mark.flip;
	uint32_t kept = statement->mark.keep | flip;

	fputs(" meta mark set meta mark", out);
	if (kept != UINT32_MAX)
		fprintf(out, " & 0x%08" PRIx32, kept);
	if (flip != 0)
		fprintf(out, " | 0x%08" PRIx32, flip);
}

static void
encode_mark(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	(void)form;
	expr_load_meta(b, NFT_META_MARK);
	expr_change_bits(b, statement->mark.keep, statement->mark.flip);
	expr_add(b, "meta");
	expr_put_u32(b, NFTNL_EXPR_META_KEY, NFT_META_MARK);
	expr_put_u32(b, NFTNL_EXPR_META_SREG, NFT_REG_1);
}

static void
print_zone(const struct statement *statement, FILE *out)
{
	fprintf(out, " ct original zone set %" PRIu16, statement->zone);
}

static void
encode_zone(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	uint8_t direction = IP_CT_DIR_ORIGINAL;

	(void)form;
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	expr_put(b, NFTNL_EXPR_IMM_DATA, &statement->zone,
	    sizeof(statement->zone));
	expr_add(b, "ct");
	expr_put_u32(b, NFTNL_EXPR_CT_KEY, NFT_CT_ZONE);
	expr_put(b, NFTNL_EXPR_CT_DIR, &direction, sizeof(direction));
	expr_put_u32(b, NFTNL_EXPR_CT_SREG, NFT_REG_1);
}

static void
print_notrack(const struct statement *statement, FILE *out)
{
	(void)statement;
	fputs(" notrack", out);
}

static void
encode_notrack(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	(void)statement;
	(void)form;
	expr_add(b, "notrack");
}

static void
print_tproxy(const struct statement *statement, FILE *out)
{
	fprintf(out, " tproxy %s:%" PRIu16, statement->tproxy.ipv4 ?
	    "ip to 127.0.0.1" : "ip6 to [::1]", statement->tproxy.port);
}

static void
load(struct expr_builder *b, uint32_t to, const void *value, size_t size)
{
	expr_add(b, "immediate");
	expr_put_u32(b, NFTNL_EXPR_IMM_DREG, to);
	expr_put(b, NFTNL_EXPR_IMM_DATA, value, size);
}

static void
load_loopback(struct expr_builder *b, bool ipv4)
{
	const struct in_addr address4 = { htonl(INADDR_LOOPBACK) };
	const struct in6_addr address6 = IN6ADDR_LOOPBACK_INIT;

	if (ipv4)
		load(b, NFT_REG_1, &address4, sizeof(address4));
	else
		load(b, NFT_REG_1, &address6, sizeof(address6));
}

static void
encode_tproxy(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	const uint16_t port = htons(statement->tproxy.port);
	const bool ipv4 = statement->tproxy.ipv4;

	(void)form;
	load_loopback(b, ipv4);
	load(b, NFT_REG_2, &port, sizeof(port));
	expr_add(b, EXPRESSION_TPROXY);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_FAMILY,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_REG_ADDR, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_2);
}

static void
print_back(const struct statement *statement, FILE *out)
{
	fprintf(out, " dup to %s daddr device iif", statement->back.ipv4 ?
	    "ip" : "ip6");
}

/* To the address and by the device in both registers. */
static void
copy(struct expr_builder *b)
{
	expr_add(b, EXPRESSION_DUP);
	expr_put_u32(b, NFTNL_EXPR_DUP_SREG_ADDR, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_DUP_SREG_DEV, NFT_REG_2);
}

static void
encode_back(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	(void)form;
	subject_load(b, statement->back.ipv4 ? SUBJECT_IP_DADDR :
	    SUBJECT_IP6_DADDR);
	expr_add(b, "meta");
	expr_put_u32(b, NFTNL_EXPR_META_KEY, NFT_META_IIF);
	expr_put_u32(b, NFTNL_EXPR_META_DREG, NFT_REG_2);
	copy(b);
}

static void
print_to_lo(const struct statement *statement, FILE *out)
{
	fprintf(out, " dup to %s device \"lo\"", statement->back.ipv4 ?
	    "127.0.0.1" : "::1");
}

static void
encode_to_lo(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	const uint32_t device = RULE_LOOPBACK;

	(void)form;
	load_loopback(b, statement->back.ipv4);
	load(b, NFT_REG_2, &device, sizeof(device));
	copy(b);
}

static void
print_change(const struct statement *statement, FILE *out)
{
	fprintf(out, " %s @%s { %s", statement->kind == STATEMENT_DELETE ?
	    "delete" : "update", statement->change.set,
	    subject_name(statement->change.key));
	if (statement->change.seconds > 0)
		fprintf(out, " timeout %us", statement->change.seconds);
	fputs(" }", out);
}

/* The key is loaded again where a condition had it already, as nft(8) does. */
static void
encode_change(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	uint32_t operation = statement->kind == STATEMENT_DELETE ?
	    NFT_DYNSET_OP_DELETE : NFT_DYNSET_OP_UPDATE;

	(void)form;
	subject_load(b, statement->change.key);
	expr_add(b, "dynset");
	expr_put_u32(b, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_DYNSET_OP, operation);
	expr_put_string(b, NFTNL_EXPR_DYNSET_SET_NAME, statement->change.set);
	if (statement->change.seconds > 0)
		expr_put_u64(b, NFTNL_EXPR_DYNSET_TIMEOUT,
		    (uint64_t)statement->change.seconds * 1000);
}

static void
print_user_over(const struct statement *statement, FILE *out)
{
	const char *octets = statement->limit.octets ? " bytes" : "";

	fprintf(out, " update @%s { %s limit rate over %" PRIu32 "%s/second",
	    statement->limit.set, subject_name(statement->limit.key),
	    statement->limit.rate, octets);
	if (statement->limit.burst > 0)
		fprintf(out, " burst %" PRIu32 " packets",
		    statement->limit.burst);
	fputs(" }", out);
}

static void
encode_user_over(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	struct nftnl_expr *limit = nftnl_expr_alloc("limit");

	(void)form;
	subject_load(b, statement->limit.key);
	expr_add(b, "dynset");
	expr_put_u32(b, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
	expr_put_string(b, NFTNL_EXPR_DYNSET_SET_NAME, statement->limit.set);
	if (b->failed || limit == NULL) {
		if (limit != NULL)
			nftnl_expr_free(limit);
		b->failed = true;
		return;
	}
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_RATE,
	    statement->limit.rate);
	nftnl_expr_set_u64(limit, NFTNL_EXPR_LIMIT_UNIT, 1);	/* second */
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_BURST,
	    statement->limit.burst);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_TYPE,
	    statement->limit.octets ? NFT_LIMIT_PKT_BYTES : NFT_LIMIT_PKTS);
	nftnl_expr_set_u32(limit, NFTNL_EXPR_LIMIT_FLAGS, NFT_LIMIT_F_INV);
	nftnl_expr_add_expr(b->last, NFTNL_EXPR_DYNSET_EXPR, limit);
}

static const struct {
	void (*print)(const struct statement *statement, FILE *out);
	void (*encode)(struct expr_builder *b,
	    const struct statement *statement, enum queue_form form);
	const char *remedy;
} rows[STATEMENTS] = {
	[STATEMENT_COUNTER] = { print_counter, encode_counter, NULL },
	[STATEMENT_ACCEPT] = { print_accept, encode_verdict, NULL },
	[STATEMENT_DROP] = { print_drop, encode_verdict, NULL },
	[STATEMENT_QUEUE] = { print_queue, encode_queue,
	    "load module nft_queue, or use a kernel with CONFIG_NFT_QUEUE, or "
	    "with CONFIG_NFT_COMPAT and CONFIG_NETFILTER_XT_TARGET_NFQUEUE" },
	[STATEMENT_MARK] = { print_mark, encode_mark, NULL },
	[STATEMENT_ZONE] = { print_zone, encode_zone,
	    "load module nft_ct, or use a kernel with CONFIG_NFT_CT and "
	    "CONFIG_NF_CONNTRACK_ZONES" },
	[STATEMENT_NOTRACK] = { print_notrack, encode_notrack,
	    "load module nft_ct, or use a kernel with CONFIG_NFT_CT" },
	[STATEMENT_TPROXY] = { print_tproxy, encode_tproxy,
	    "load module nft_tproxy, use a kernel with CONFIG_NFT_TPROXY, or "
	    "set capture.tcp = false" },
	[STATEMENT_SEND_BACK] = { print_back, encode_back,
	    "load modules nft_dup_ipv4 and nft_dup_ipv6, or take containers out" },
	[STATEMENT_TO_LO] = { print_to_lo, encode_to_lo,
	    "set capture.tcp = false, or take containers out" },
	[STATEMENT_UPDATE] = { print_change, encode_change,
	    "set capture.tcp = false" },
	[STATEMENT_DELETE] = { print_change, encode_change,
	    "set capture.tcp = false" },
	[STATEMENT_USER_OVER] = { print_user_over, encode_user_over,
	    "load module nft_limit, use a kernel with CONFIG_NFT_LIMIT, or "
	    "set capture.user_rate = 0" },
};

const char *
statement_remedy(enum statement_kind kind)
{
	return rows[kind].remedy;
}

void
statement_print(const struct statement *statement, FILE *out)
{
	rows[statement->kind].print(statement, out);
}

void
statement_encode(struct expr_builder *b, const struct statement *statement,
    enum queue_form form)
{
	rows[statement->kind].encode(b, statement, form);
}
