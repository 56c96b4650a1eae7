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
match_meta_u32(struct maker *maker, enum nft_meta_keys key, uint32_t value)
{
	maker_load_meta(maker, key);
	maker_compare(maker, NFT_CMP_EQ, &value, sizeof(value));
}

static void
match_meta_u8(struct maker *maker, enum nft_meta_keys key,
    enum nft_cmp_ops operation, uint8_t value)
{
	maker_load_meta(maker, key);
	maker_compare(maker, operation, &value, sizeof(value));
}

static void
match_mark(struct maker *maker, enum nft_cmp_ops operation,
    const struct config_mark *mark)
{
	maker_load_meta(maker, NFT_META_MARK);
	if (mark->mask != UINT32_MAX)
		maker_change_bits(maker, mark->mask, 0);
	maker_compare(maker, operation, &mark->value, sizeof(mark->value));
}

static void
match_port53(struct maker *maker, enum nft_cmp_ops operation)
{
	uint16_t port = htons(53);

	maker_load_payload(maker, NFT_PAYLOAD_TRANSPORT_HEADER, PORT_DESTINATION,
	    sizeof(port));
	maker_compare(maker, operation, &port, sizeof(port));
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

	maker_load_payload(maker, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	maker_change_octets(maker, &looked_at, &none, 1);
	maker_compare(maker, operation, &syn, 1);
}

/* The same where nothing before has said that it is TCP. */
static void
match_first_tcp(struct maker *maker)
{
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	match_first(maker, NFT_CMP_EQ);
}

static void
match_stream_mark(struct maker *maker, enum nft_cmp_ops operation,
    const struct ruleset *set)
{
	const struct config_mark mark = { set->mark_stream, set->mark_mask };

	match_mark(maker, operation, &mark);
}

/* Registers that lie one behind the other, each part padded to four octets. */
void
match_load_stream(struct maker *maker, bool ipv4, bool reply)
{
	uint32_t source = ipv4 ? IPV4_SOURCE : IPV6_SOURCE;
	uint32_t destination = ipv4 ? IPV4_DESTINATION : IPV6_DESTINATION;
	uint32_t size = ipv4 ? 4 : 16;

	maker_load_payload_to(maker, NFT_REG_1, NFT_PAYLOAD_NETWORK_HEADER,
	    reply ? destination : source, size);
	maker_load_payload_to(maker, ipv4 ? NFT_REG32_01 : NFT_REG_2,
	    NFT_PAYLOAD_TRANSPORT_HEADER, reply ? PORT_DESTINATION :
	    PORT_SOURCE, 2);
	maker_load_payload_to(maker, ipv4 ? NFT_REG32_02 : NFT_REG32_05,
	    NFT_PAYLOAD_NETWORK_HEADER, reply ? source : destination, size);
}

const char *
match_streams_name(bool ipv4)
{
	return ipv4 ? RULES_STREAMS4 : RULES_STREAMS6;
}

/* Of these flags, all or none as "value" says; or any, if NEQ 0. */
static void
match_flags(struct maker *maker, uint8_t mask, enum nft_cmp_ops operation,
    uint8_t value)
{
	const uint8_t none = 0;

	maker_load_payload(maker, NFT_PAYLOAD_TRANSPORT_HEADER, TCP_FLAGS, 1);
	maker_change_octets(maker, &mask, &none, 1);
	maker_compare(maker, operation, &value, 1);
}

/* What the packet has to be besides one of a connection in the set. */
static void
match_event(struct maker *maker, enum rule_match match)
{
	switch (match) {
	case MATCH_RESET4:
	case MATCH_RESET6:
		match_flags(maker, TCP_RST, NFT_CMP_EQ, TCP_RST);
		break;
	case MATCH_DATA4:
	case MATCH_DATA6:
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
		match_flags(maker, TCP_PSH, NFT_CMP_EQ, TCP_PSH);
		break;
	case MATCH_END4:
	case MATCH_END6:
		match_flags(maker, TCP_FIN | TCP_RST, NFT_CMP_NEQ, 0);
		break;
	default:
		break;
	}
}

static void
match_later(struct maker *maker, const struct ruleset *set,
    enum rule_match match)
{
	const struct config_mark answered = { set->mark_answered,
		set->mark_mask };
	bool ipv4 = rules_is_ipv4(match);

	if (rules_is_reply(match))
		match_mark(maker, NFT_CMP_EQ, &answered);
	match_family(maker, ipv4);
	match_meta_u8(maker, NFT_META_L4PROTO, NFT_CMP_EQ, IPPROTO_TCP);
	match_event(maker, match);
	match_load_stream(maker, ipv4, rules_is_reply(match));
	maker_add(maker, "lookup");
	maker_put_u32(maker, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	maker_put_string(maker, NFTNL_EXPR_LOOKUP_SET, match_streams_name(ipv4));
}

/* fe80::/10 */
static void
match_scoped_source(struct maker *maker)
{
	const uint8_t mask[16] = { 0xff, 0xc0 }, none[16] = { 0 };
	const uint8_t prefix[16] = { 0xfe, 0x80 };

	match_family(maker, false);
	maker_load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER, IPV6_SOURCE, 16);
	maker_change_octets(maker, mask, none, sizeof(mask));
	maker_compare(maker, NFT_CMP_EQ, prefix, sizeof(prefix));
}

static void
match_address_type(struct maker *maker, uint32_t address,
    enum nft_cmp_ops operation, uint32_t type)
{
	maker_add(maker, "fib");
	maker_put_u32(maker, NFTNL_EXPR_FIB_RESULT, NFT_FIB_RESULT_ADDRTYPE);
	maker_put_u32(maker, NFTNL_EXPR_FIB_FLAGS, address);
	maker_put_u32(maker, NFTNL_EXPR_FIB_DREG, NFT_REG_1);
	maker_compare(maker, operation, &type, sizeof(type));
}

/* 224.0.0.0/4; of ff00::/8 one octet, as nft(8) does it. */
static void
match_multicast(struct maker *maker, bool ipv4)
{
	const uint8_t mask[4] = { 0xf0 }, none[4] = { 0 };
	const uint8_t prefix4[4] = { 0xe0 }, prefix6 = 0xff;

	match_family(maker, ipv4);
	if (ipv4) {
		maker_load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV4_DESTINATION, 4);
		maker_change_octets(maker, mask, none, sizeof(mask));
		maker_compare(maker, NFT_CMP_EQ, prefix4, sizeof(prefix4));
	} else {
		maker_load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV6_DESTINATION, 1);
		maker_compare(maker, NFT_CMP_EQ, &prefix6, 1);
	}
}

static void
match_destination(struct maker *maker, const struct address_set *set)
{
	if (set->family == AF_INET) {
		match_meta_u8(maker, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV4);
		maker_load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV4_DESTINATION, 4);
	} else {
		match_meta_u8(maker, NFT_META_NFPROTO, NFT_CMP_EQ, NFPROTO_IPV6);
		maker_load_payload(maker, NFT_PAYLOAD_NETWORK_HEADER,
		    IPV6_DESTINATION, 16);
	}
	maker_add(maker, "lookup");
	maker_put_u32(maker, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	maker_put_string(maker, NFTNL_EXPR_LOOKUP_SET, set->name);
}

static void
match_cgroup(struct maker *maker, uint64_t id, uint32_t level)
{
	maker_add(maker, "socket");
	maker_put_u32(maker, NFTNL_EXPR_SOCKET_KEY, NFT_SOCKET_CGROUPV2);
	maker_put_u32(maker, NFTNL_EXPR_SOCKET_DREG, NFT_REG_1);
	maker_put_u32(maker, NFTNL_EXPR_SOCKET_LEVEL, level);
	maker_compare(maker, NFT_CMP_EQ, &id, sizeof(id));
}

/* What is about TCP alone. */
static void
make_match_tcp(struct maker *maker, const struct ruleset *set,
    const struct rule *rule)
{
	const struct config_mark answered = { set->mark_answered,
		set->mark_mask };
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
		match_stream_mark(maker, NFT_CMP_EQ, set);
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
	case MATCH_RESET4:
	case MATCH_RESET6:
	case MATCH_DATA4:
	case MATCH_DATA6:
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
	case MATCH_END4:
	case MATCH_END6:
		match_later(maker, set, rule->match);
		break;
	case MATCH_NOT_STREAMS:
		match_port53(maker, NFT_CMP_NEQ);
		match_mark(maker, NFT_CMP_NEQ, &answered);
		break;
	case MATCH_NOT_STREAM:
		match_stream_mark(maker, NFT_CMP_NEQ, set);
		break;
	case MATCH_NOT_LOOPBACK:
		maker_load_meta(maker, NFT_META_IIF);
		maker_compare(maker, NFT_CMP_NEQ, &loopback, sizeof(loopback));
		break;
	case MATCH_ARRIVED_SCOPED:
		match_stream_mark(maker, NFT_CMP_EQ, set);
		match_scoped_source(maker);
		match_protocol_port53(maker, IPPROTO_TCP);
		match_first(maker, NFT_CMP_NEQ);
		break;
	case MATCH_ARRIVED4:
	case MATCH_ARRIVED6:
		match_stream_mark(maker, NFT_CMP_EQ, set);
		match_family(maker, ipv4);
		match_protocol_port53(maker, IPPROTO_TCP);
		break;
	default:
		break;
	}
}

void
match_make(struct maker *maker, const struct ruleset *set,
    const struct rule *rule)
{
	const struct config_mark canary = { set->mark_mask, set->mark_mask };
	const struct config_mark passed = { set->mark_passed, set->mark_mask };

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
		match_mark(maker, NFT_CMP_EQ, &rule->arg.mark);
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
	case MATCH_FOREIGN_SOURCE:
		match_address_type(maker, NFTA_FIB_F_SADDR, NFT_CMP_NEQ,
		    RTN_LOCAL);
		break;
	case MATCH_BROADCAST:
		match_family(maker, true);
		match_address_type(maker, NFTA_FIB_F_DADDR, NFT_CMP_EQ,
		    RTN_BROADCAST);
		break;
	case MATCH_MULTICAST4:
	case MATCH_MULTICAST6:
		match_multicast(maker, rules_is_ipv4(rule->match));
		break;
	case MATCH_NAMESERVER4:
	case MATCH_NAMESERVER6:
		match_question(maker);
		match_destination(maker, &set->sets[rule_set_id(rule)]);
		break;
	case MATCH_REPEATED:
		match_mark(maker, NFT_CMP_EQ, &passed);
		match_question(maker);
		break;
	case MATCH_QUESTION:
		if (rule->canary)
			match_mark(maker, NFT_CMP_EQ, &canary);
		match_question(maker);
		break;
	default:
		make_match_tcp(maker, set, rule);
		break;
	}
}
