/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/match.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

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
#define TCP_PSH 0x08
#define TCP_ACK 0x10

/* lo is the first device of every namespace (LOOPBACK_IFINDEX). */
#define LOOPBACK_INDEX 1

static void
match_meta_u32(struct expr_builder *b, enum nft_meta_keys key, uint32_t value)
{
	expr_load_meta(b, key);
	expr_compare(b, NFT_CMP_EQ, &value, sizeof(value));
}

static void
match_meta_u8(struct expr_builder *b, enum nft_meta_keys key,
    enum nft_cmp_ops operation, uint8_t value)
{
	expr_load_meta(b, key);
	expr_compare(b, operation, &value, sizeof(value));
}

static void
match_mark(struct expr_builder *b, enum nft_cmp_ops operation,
    const struct config_mark *mark)
{
	expr_load_meta(b, NFT_META_MARK);
	if (mark->mask != UINT32_MAX)
		expr_change_bits(b, mark->mask, 0);
	expr_compare(b, operation, &mark->value, sizeof(mark->value));
}

static void
match_port53(struct expr_builder *b, enum nft_cmp_ops operation)
{
	uint16_t port = htons(53);

	expr_load_payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION,
	    sizeof(port));
	expr_compare(b, operation, &port, sizeof(port));
}

static void
match_family(struct expr_builder *b, bool ipv4)
{
	match_meta_u8(b, NFT_META_NFPROTO, NFT_CMP_EQ,
	    ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
}

static void
match_protocol_port53(struct expr_builder *b, uint8_t protocol)
{
	match_meta_u8(b, NFT_META_L4PROTO, NFT_CMP_EQ, protocol);
	match_port53(b, NFT_CMP_EQ);
}

static void
match_question(struct expr_builder *b)
{
	match_protocol_port53(b, IPPROTO_UDP);
}

static void
match_first(struct expr_builder *b, enum nft_cmp_ops operation)
{
	const uint8_t looked_at = TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK;
	const uint8_t none = 0, syn = TCP_SYN;

	expr_load_payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	expr_change_octets(b, &looked_at, &none, 1);
	expr_compare(b, operation, &syn, 1);
}

/* The same where nothing before has said that it is TCP. */
static void
match_first_tcp(struct expr_builder *b)
{
	match_meta_u8(b, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	match_first(b, NFT_CMP_EQ);
}

static void
match_stream_mark(struct expr_builder *b, enum nft_cmp_ops operation,
    const struct ruleset *set)
{
	const struct config_mark mark = { set->mark_stream, set->mark_mask };

	match_mark(b, operation, &mark);
}

/* Registers that lie one behind the other, each part padded to four octets. */
void
match_load_stream(struct expr_builder *b, bool ipv4, bool reply)
{
	uint32_t source = ipv4 ? IPV4_SOURCE : IPV6_SOURCE;
	uint32_t destination = ipv4 ? IPV4_DESTINATION : IPV6_DESTINATION;
	uint32_t size = ipv4 ? 4 : 16;

	expr_load_payload_to(b, NFT_REG_1, NFT_PAYLOAD_NETWORK_HEADER,
	    reply ? destination : source, size);
	expr_load_payload_to(b, ipv4 ? NFT_REG32_01 : NFT_REG_2,
	    NFT_PAYLOAD_TRANSPORT_HEADER, reply ? PORT_DESTINATION :
	    PORT_SOURCE, 2);
	expr_load_payload_to(b, ipv4 ? NFT_REG32_02 : NFT_REG32_05,
	    NFT_PAYLOAD_NETWORK_HEADER, reply ? source : destination, size);
}

const char *
match_streams_name(bool ipv4)
{
	return ipv4 ? RULES_STREAMS4 : RULES_STREAMS6;
}

/* Of these flags, all or none as "value" says; or any, if NEQ 0. */
static void
match_flags(struct expr_builder *b, uint8_t mask, enum nft_cmp_ops operation,
    uint8_t value)
{
	const uint8_t none = 0;

	expr_load_payload(b, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	expr_change_octets(b, &mask, &none, 1);
	expr_compare(b, operation, &value, 1);
}

/* What the packet has to be besides one of a connection in the set. */
static void
match_event(struct expr_builder *b, enum rule_match match)
{
	switch (match) {
	case MATCH_RESET4:
	case MATCH_RESET6:
		match_flags(b, TCP_RST, NFT_CMP_EQ, TCP_RST);
		break;
	case MATCH_DATA4:
	case MATCH_DATA6:
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
		match_flags(b, TCP_PSH, NFT_CMP_EQ, TCP_PSH);
		break;
	case MATCH_END4:
	case MATCH_END6:
		match_flags(b, TCP_FIN | TCP_RST, NFT_CMP_NEQ, 0);
		break;
	default:
		break;
	}
}

static void
match_later(struct expr_builder *b, const struct ruleset *set,
    enum rule_match match)
{
	const struct config_mark answered = { set->mark_answered,
		set->mark_mask };
	bool ipv4 = rules_is_ipv4(match);

	if (rules_is_reply(match))
		match_mark(b, NFT_CMP_EQ, &answered);
	match_family(b, ipv4);
	match_meta_u8(b, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	match_event(b, match);
	match_load_stream(b, ipv4, rules_is_reply(match));
	expr_add(b, "lookup");
	expr_put_u32(b, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	expr_put_string(b, NFTNL_EXPR_LOOKUP_SET, match_streams_name(ipv4));
}

/* fe80::/10 */
static void
match_scoped_source(struct expr_builder *b)
{
	const uint8_t mask[16] = { 0xff, 0xc0 }, none[16] = { 0 };
	const uint8_t prefix[16] = { 0xfe, 0x80 };

	match_family(b, false);
	expr_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER, IPV6_SOURCE, 16);
	expr_change_octets(b, mask, none, sizeof(mask));
	expr_compare(b, NFT_CMP_EQ, prefix, sizeof(prefix));
}

static void
match_address_type(struct expr_builder *b, uint32_t address,
    enum nft_cmp_ops operation, uint32_t type)
{
	expr_add(b, "fib");
	expr_put_u32(b, NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
	expr_put_u32(b, NFTNL_EXPR_FIB_FLAGS, address);
	expr_put_u32(b, NFTNL_EXPR_FIB_DREG, NFT_REG_1);
	expr_compare(b, operation, &type, sizeof(type));
}

/* 224.0.0.0/4; of ff00::/8 one octet, as nft(8) does it. */
static void
match_multicast(struct expr_builder *b, bool ipv4)
{
	const uint8_t mask[4] = { 0xf0 }, none[4] = { 0 };
	const uint8_t prefix4[4] = { 0xe0 }, prefix6 = 0xff;

	match_family(b, ipv4);
	if (ipv4) {
		expr_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV4_DESTINATION, 4);
		expr_change_octets(b, mask, none, sizeof(mask));
		expr_compare(b, NFT_CMP_EQ, prefix4, sizeof(prefix4));
	} else {
		expr_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV6_DESTINATION, 1);
		expr_compare(b, NFT_CMP_EQ, &prefix6, 1);
	}
}

static void
match_destination(struct expr_builder *b, const struct address_set *set)
{
	if (set->family == AF_INET) {
		match_meta_u8(b, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV4);
		expr_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV4_DESTINATION, 4);
	} else {
		match_meta_u8(b, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV6);
		expr_load_payload(b, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV6_DESTINATION, 16);
	}
	expr_add(b, "lookup");
	expr_put_u32(b, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	expr_put_string(b, NFTNL_EXPR_LOOKUP_SET, set->name);
}

static void
match_cgroup(struct expr_builder *b, uint64_t id, uint32_t level)
{
	expr_add(b, "socket");
	expr_put_u32(b, NFTNL_EXPR_SOCKET_KEY, NFT_SOCKET_CGROUPV2);
	expr_put_u32(b, NFTNL_EXPR_SOCKET_DREG, NFT_REG_1);
	expr_put_u32(b, NFTNL_EXPR_SOCKET_LEVEL, level);
	expr_compare(b, NFT_CMP_EQ, &id, sizeof(id));
}

/* What is about TCP alone. */
static void
make_match_tcp(struct expr_builder *b, const struct ruleset *set,
    const struct rule *rule)
{
	const struct config_mark answered = { set->mark_answered,
		set->mark_mask };
	const uint32_t loopback = LOOPBACK_INDEX;
	bool ipv4 = rules_is_ipv4(rule->match);

	switch (rule->match) {
	case MATCH_NOT_TCP:
		match_meta_u8(b, NFT_META_L4PROTO, NFT_CMP_NEQ, IPPROTO_TCP);
		break;
	case MATCH_CONNECTION:
	case MATCH_CONNECTION4:
	case MATCH_CONNECTION6:
		match_protocol_port53(b, IPPROTO_TCP);
		match_first(b, NFT_CMP_EQ);
		if (rule->match != MATCH_CONNECTION)
			match_destination(b, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_FIRST_MARKED:
	case MATCH_FIRST_MARKED4:
	case MATCH_FIRST_MARKED6:
		match_stream_mark(b, NFT_CMP_EQ, set);
		if (rule->match != MATCH_FIRST_MARKED)
			match_family(b, ipv4);
		match_first_tcp(b);
		break;
	case MATCH_FIRST4:
	case MATCH_FIRST6:
		match_family(b, ipv4);
		match_first_tcp(b);
		break;
	case MATCH_LATER4:
	case MATCH_LATER6:
	case MATCH_RESET4:
	case MATCH_RESET6:
	case MATCH_DATA4:
	case MATCH_DATA6:
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
	case MATCH_END4:
	case MATCH_END6:
		match_later(b, set, rule->match);
		break;
	case MATCH_NOT_STREAMS:
		match_port53(b, NFT_CMP_NEQ);
		match_mark(b, NFT_CMP_NEQ, &answered);
		break;
	case MATCH_NOT_STREAM:
		match_stream_mark(b, NFT_CMP_NEQ, set);
		break;
	case MATCH_NOT_LOOPBACK:
		expr_load_meta(b, NFT_META_IIF);
		expr_compare(b, NFT_CMP_NEQ, &loopback, sizeof(loopback));
		break;
	case MATCH_ARRIVED_SCOPED:
		match_stream_mark(b, NFT_CMP_EQ, set);
		match_scoped_source(b);
		match_protocol_port53(b, IPPROTO_TCP);
		match_first(b, NFT_CMP_NEQ);
		break;
	case MATCH_ARRIVED4:
	case MATCH_ARRIVED6:
		match_stream_mark(b, NFT_CMP_EQ, set);
		match_family(b, ipv4);
		match_protocol_port53(b, IPPROTO_TCP);
		break;
	default:
		break;
	}
}

void
match_make(struct expr_builder *b, const struct ruleset *set,
    const struct rule *rule)
{
	const struct config_mark canary = { set->mark_mask, set->mark_mask };
	const struct config_mark passed = { set->mark_passed, set->mark_mask };

	switch (rule->match) {
	case MATCH_NOT_UDP:
		match_meta_u8(b, NFT_META_L4PROTO, NFT_CMP_NEQ, IPPROTO_UDP);
		break;
	case MATCH_NOT_PORT53:
		match_port53(b, NFT_CMP_NEQ);
		break;
	case MATCH_USER:
		match_meta_u32(b, NFT_META_SKUID, rule->arg.id);
		break;
	case MATCH_GROUP:
		match_meta_u32(b, NFT_META_SKGID, rule->arg.id);
		break;
	case MATCH_MARK:
		match_mark(b, NFT_CMP_EQ, &rule->arg.mark);
		break;
	case MATCH_CGROUP:
		match_cgroup(b, rule->arg.cgroup.id,
		    rule->arg.cgroup.level);
		break;
	case MATCH_CLASSID:
		match_meta_u32(b, NFT_META_CGROUP, rule->arg.id);
		break;
	case MATCH_DESTINATION4:
	case MATCH_DESTINATION6:
		match_destination(b, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_FOREIGN_SOURCE:
		match_address_type(b, NFTA_FIB_F_SADDR, NFT_CMP_NEQ,
		    RTN_LOCAL);
		break;
	case MATCH_BROADCAST:
		match_family(b, true);
		match_address_type(b, NFTA_FIB_F_DADDR, NFT_CMP_EQ,
		    RTN_BROADCAST);
		break;
	case MATCH_MULTICAST4:
	case MATCH_MULTICAST6:
		match_multicast(b, rules_is_ipv4(rule->match));
		break;
	case MATCH_NAMESERVER4:
	case MATCH_NAMESERVER6:
		match_question(b);
		match_destination(b, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_REPEATED:
		match_mark(b, NFT_CMP_EQ, &passed);
		match_question(b);
		break;
	case MATCH_QUESTION:
		if (rule->canary)
			match_mark(b, NFT_CMP_EQ, &canary);
		match_question(b);
		break;
	default:
		make_match_tcp(b, set, rule);
		break;
	}
}
