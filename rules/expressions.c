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
#define IPV4_SOURCE		12
#define IPV4_DESTINATION	16
#define IPV6_SOURCE		8
#define IPV6_DESTINATION	24
#define PORT_SOURCE		0
#define PORT_DESTINATION	2
#define TCP_FLAGS		13

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

/* lo is the first device of every namespace (LOOPBACK_IFINDEX). */
#define LOOPBACK_INDEX 1

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

/* Single values go through register 1, as nft(8) does it. */

static void
load_meta(struct maker *maker, enum nft_meta_keys key)
{
	add(maker, "meta");
	put_u32(maker, NFTNL_EXPR_META_KEY, key);
	put_u32(maker, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

static void
load_payload_to(struct maker *maker, uint32_t reg, enum nft_payload_bases base,
    uint32_t offset, uint32_t size)
{
	add(maker, "payload");
	put_u32(maker, NFTNL_EXPR_PAYLOAD_DREG, reg);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_BASE, base);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
	put_u32(maker, NFTNL_EXPR_PAYLOAD_LEN, size);
}

static void
load_payload(struct maker *maker, enum nft_payload_bases base, uint32_t offset,
    uint32_t size)
{
	load_payload_to(maker, NFT_REG_1, base, offset, size);
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
change_octets(struct maker *maker, const void *mask, const void *flip,
    size_t size)
{
	add(maker, "bitwise");
	put_u32(maker, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_BITWISE_LEN, (uint32_t)size);
	put(maker, NFTNL_EXPR_BITWISE_MASK, mask, size);
	put(maker, NFTNL_EXPR_BITWISE_XOR, flip, size);
}

static void
change_bits(struct maker *maker, uint32_t mask, uint32_t flip)
{
	change_octets(maker, &mask, &flip, sizeof(mask));
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
match_family(struct maker *maker, bool ipv4)
{
	match_meta_u8(maker, NFT_META_NFPROTO, NFT_CMP_EQ,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
}

static void
match_protocol_port53(struct maker *maker, uint8_t protocol)
{
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, protocol);
	match_port53(maker, NFT_CMP_EQ);
}

static void
match_question(struct maker *maker)
{
	match_protocol_port53(maker, IPPROTO_UDP);
}

static void
match_first(struct maker *maker, enum nft_cmp_ops operation)
{
	const uint8_t looked_at = TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK;
	const uint8_t none = 0, syn = TCP_SYN;

	load_payload(maker, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	change_octets(maker, &looked_at, &none, 1);
	compare(maker, operation, &syn, 1);
}

/* The same where nothing before has said that it is TCP. */
static void
match_first_tcp(struct maker *maker)
{
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	match_first(maker, NFT_CMP_EQ);
}

static void
match_own_mark(struct maker *maker, const struct ruleset *set, uint32_t value)
{
	const struct config_mark mark = { value, set->mark_mask };

	match_mark(maker, &mark);
}

/*
 * Client address, client port and nameserver into registers that lie one
 * behind the other, each padded to four octets.
 */
static void
load_stream_key(struct maker *maker, bool ipv4)
{
	load_payload_to(maker, NFT_REG_1, NFT_PAYLOAD_NETWORK_HEADER,
	    ipv4 ? IPV4_SOURCE : IPV6_SOURCE, ipv4 ? 4 : 16);
	load_payload_to(maker, ipv4 ? NFT_REG32_01 : NFT_REG_2,
	    NFT_PAYLOAD_TRANSPORT_HEADER, PORT_SOURCE, 2);
	load_payload_to(maker, ipv4 ? NFT_REG32_02 : NFT_REG32_05,
	    NFT_PAYLOAD_NETWORK_HEADER, ipv4 ? IPV4_DESTINATION :
	    IPV6_DESTINATION, ipv4 ? 4 : 16);
}

static const char *
streams_name(bool ipv4)
{
	return ipv4 ? RULES_STREAMS4 : RULES_STREAMS6;
}

static void
match_later(struct maker *maker, bool ipv4)
{
	match_family(maker, ipv4);
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	load_stream_key(maker, ipv4);
	add(maker, "lookup");
	put_u32(maker, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	put_string(maker, NFTNL_EXPR_LOOKUP_SET, streams_name(ipv4));
}

/* fe80::/10 */
static void
match_scoped_source(struct maker *maker)
{
	const uint8_t mask[16] = { 0xff, 0xc0 }, none[16] = { 0 };
	const uint8_t prefix[16] = { 0xfe, 0x80 };

	match_family(maker, false);
	load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER, IPV6_SOURCE, 16);
	change_octets(maker, mask, none, sizeof(mask));
	compare(maker, NFT_CMP_EQ, prefix, sizeof(prefix));
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

/* What is about TCP alone. */
static void
make_match_tcp(struct maker *maker, const struct ruleset *set,
    const struct rule *rule)
{
	const uint32_t loopback = LOOPBACK_INDEX;
	bool ipv4 = rules_is_ipv4(rule->match);

	switch (rule->match) {
	case MATCH_NOT_TCP:
		match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_NEQ, IPPROTO_TCP);
		break;
	case MATCH_CONNECTION:
	case MATCH_CONNECTION4:
	case MATCH_CONNECTION6:
		match_protocol_port53(maker, IPPROTO_TCP);
		match_first(maker, NFT_CMP_EQ);
		if (rule->match != MATCH_CONNECTION)
			match_destination(maker, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_FIRST_MARKED:
	case MATCH_FIRST_MARKED4:
	case MATCH_FIRST_MARKED6:
		match_own_mark(maker, set, set->mark_stream);
		if (rule->match != MATCH_FIRST_MARKED)
			match_family(maker, ipv4);
		match_first_tcp(maker);
		break;
	case MATCH_FIRST4:
	case MATCH_FIRST6:
		match_family(maker, ipv4);
		match_first_tcp(maker);
		break;
	case MATCH_LATER4:
	case MATCH_LATER6:
		match_later(maker, ipv4);
		break;
	case MATCH_NOT_LOOPBACK:
		load_meta(maker, NFT_META_IIF);
		compare(maker, NFT_CMP_NEQ, &loopback, sizeof(loopback));
		break;
	case MATCH_ARRIVED_SCOPED:
		match_own_mark(maker, set, set->mark_stream);
		match_scoped_source(maker);
		match_protocol_port53(maker, IPPROTO_TCP);
		match_first(maker, NFT_CMP_NEQ);
		break;
	case MATCH_ARRIVED4:
	case MATCH_ARRIVED6:
		match_own_mark(maker, set, set->mark_stream);
		match_family(maker, ipv4);
		match_protocol_port53(maker, IPPROTO_TCP);
		break;
	default:
		break;
	}
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
	default:
		make_match_tcp(maker, set, rule);
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
put_verdict(struct maker *maker, uint32_t verdict)
{
	add(maker, "immediate");
	put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	put_u32(maker, NFTNL_EXPR_IMM_VERDICT, verdict);
}

/*
 * Adds the packet's connection to the set, renews it there, or deletes it.  The
 * key is loaded again where a lookup had it already, as nft(8) does.
 */
static void
change_streams(struct maker *maker, const struct rule *rule)
{
	bool ipv4 = rules_is_ipv4(rule->match);

	load_stream_key(maker, ipv4);
	add(maker, "dynset");
	put_u32(maker, NFTNL_EXPR_DYNSET_SREG_KEY, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_DYNSET_OP, rule->action == ACTION_FORGET ?
	    NFT_DYNSET_OP_DELETE : NFT_DYNSET_OP_UPDATE);
	put_string(maker, NFTNL_EXPR_DYNSET_SET_NAME, streams_name(ipv4));
}

static void
tproxy(struct maker *maker, const struct ruleset *set, bool ipv4)
{
	const struct in_addr address4 = { htonl(INADDR_LOOPBACK) };
	const struct in6_addr address6 = IN6ADDR_LOOPBACK_INIT;
	uint16_t port = htons(set->stream_port);

	add(maker, "immediate");
	put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	if (ipv4)
		put(maker, NFTNL_EXPR_IMM_DATA, &address4, sizeof(address4));
	else
		put(maker, NFTNL_EXPR_IMM_DATA, &address6, sizeof(address6));
	add(maker, "immediate");
	put_u32(maker, NFTNL_EXPR_IMM_DREG, NFT_REG_2);
	put(maker, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
	add(maker, EXPRESSION_TPROXY);
	put_u32(maker, NFTNL_EXPR_TPROXY_FAMILY,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	put_u32(maker, NFTNL_EXPR_TPROXY_REG_ADDR, NFT_REG_1);
	put_u32(maker, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_2);
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
	case ACTION_FORGET:
		change_streams(maker, rule);
		put_verdict(maker, NF_ACCEPT);
		break;
	case ACTION_DIVERT:
		change_streams(maker, rule);
		change_mark(maker, ~set->mark_stream, set->mark_stream);
		break;
	case ACTION_DROP:
		put_verdict(maker, NF_DROP);
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
		count(maker);
		set_zone(maker, set->zone);
		change_mark(maker, ~set->mark_mask, 0);
		break;
	case ACTION_NOTRACK:
		count(maker);
		add(maker, "notrack");
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
	if (nftnl_rule_set_str(maker.rule, NFTNL_RULE_TABLE, RULES_TABLE) != 0 ||
	    nftnl_rule_set_str(maker.rule, NFTNL_RULE_CHAIN,
	    rules_chain_form(rule->chain)->name) != 0)
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

/* Types of a concatenation stand in six bits each: address, service, address. */
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
