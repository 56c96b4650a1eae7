/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expressions of a rule with one packet: registers are loaded, compared and
 * masked as the kernel does (net/netfilter/nft_*.c).  What an unknown
 * expression leaves in a register is unknown, and so is what is compared with it.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/firewall/internal.h"

#define HEADER_MAX	40

/* The first octet of a register; REGISTER_OCTETS if there is no such. */
static size_t
place_of(uint32_t reg)
{
	if (reg >= NFT_REG_1 && reg <= NFT_REG_4)
		return (size_t)(reg - NFT_REG_1) * NFT_REG_SIZE;
	if (reg >= NFT_REG32_00 && reg <= NFT_REG32_15)
		return (size_t)(reg - NFT_REG32_00) * NFT_REG32_SIZE;
	return REGISTER_OCTETS;
}

static void
put(struct walk *walk, uint32_t reg, const void *octets, size_t length)
{
	const size_t at = place_of(reg);

	if (length > REGISTER_OCTETS - at)
		length = REGISTER_OCTETS - at;
	memcpy(walk->registers.octets + at, octets, length);
	memset(walk->registers.known + at, true, length);
}

static void
put_u32(struct walk *walk, uint32_t reg, uint32_t value)
{
	put(walk, reg, &value, sizeof(value));
}

/* As the kernel, which clears the rest of the last word. */
static void
put_u8(struct walk *walk, uint32_t reg, uint8_t value)
{
	const uint8_t octets[NFT_REG32_SIZE] = { value };

	put(walk, reg, octets, sizeof(octets));
}

static void
put_unknown(struct walk *walk, uint32_t reg)
{
	const size_t at = place_of(reg);
	const size_t length = REGISTER_OCTETS - at < NFT_REG_SIZE ?
	    REGISTER_OCTETS - at : NFT_REG_SIZE;

	memset(walk->registers.known + at, false, length);
}

/* The octets of a register, or NULL if one of them is unknown. */
static const uint8_t *
get(const struct walk *walk, uint32_t reg, size_t length)
{
	const size_t at = place_of(reg);

	if (length > REGISTER_OCTETS - at || length == 0)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (!walk->registers.known[at + i])
			return NULL;
	return walk->registers.octets + at;
}

static void
put_name(struct walk *walk, uint32_t reg, const char *name)
{
	char octets[16] = "";		/* IFNAMSIZ */

	(void)snprintf(octets, sizeof(octets), "%s", name != NULL ? name : "");
	put(walk, reg, octets, sizeof(octets));
}

static void
load_meta(struct walk *walk, uint32_t key, uint32_t reg)
{
	const struct firewall_packet *p = &walk->packet;
	const bool ipv4 = p->family == AF_INET;
	const uint16_t ethertype = htons(ipv4 ? ETH_P_IP : ETH_P_IPV6);

	put_unknown(walk, reg);
	if (key == NFT_META_NFPROTO)
		put_u8(walk, reg, ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6);
	else if (key == NFT_META_PROTOCOL)
		put(walk, reg, &ethertype, sizeof(ethertype));
	else if (key == NFT_META_L4PROTO)
		put_u8(walk, reg, p->protocol);
	else if (key == NFT_META_MARK && !p->mark_unknown)
		put_u32(walk, reg, p->mark);
	else if (key == NFT_META_SKUID && p->uid != (uid_t)-1)
		put_u32(walk, reg, p->uid);
	else if (key == NFT_META_SKGID && p->uid != (uid_t)-1)
		put_u32(walk, reg, p->uid);	/* a group of the same number */
	else if (key == NFT_META_IIFNAME)
		put_name(walk, reg, p->in);
	else if (key == NFT_META_OIFNAME)
		put_name(walk, reg, p->out);
	else if (key == NFT_META_IIF)
		put_u32(walk, reg, firewall_interface(p->in));
	else if (key == NFT_META_OIF)
		put_u32(walk, reg, firewall_interface(p->out));
}

/* The parts of the headers that we know. */
static void
write_headers(const struct firewall_packet *p,
    uint8_t network[static HEADER_MAX], bool network_known[static HEADER_MAX],
    uint8_t transport[static HEADER_MAX],
    bool transport_known[static HEADER_MAX])
{
	const bool ipv4 = p->family == AF_INET;
	const size_t source = ipv4 ? 12 : 8, size = ipv4 ? 4 : 16;
	const uint16_t ports[2] = { htons(p->source_port),
	    htons(p->destination_port) };

	memcpy(network + source, p->source, size);
	memcpy(network + source + size, p->destination, size);
	memset(network_known + source, true, 2 * size);
	network[ipv4 ? 9 : 6] = p->protocol;
	network_known[ipv4 ? 9 : 6] = true;
	memcpy(transport, ports, sizeof(ports));
	memset(transport_known, p->source_port != 0, 2);
	memset(transport_known + 2, p->destination_port != 0, 2);
	if (p->protocol == IPPROTO_TCP) {
		transport[13] = p->tcp_flags;
		transport_known[13] = true;
	}
}

static void
load_payload(struct walk *walk, const struct nftnl_expr *e, uint32_t reg)
{
	const uint32_t base = nftnl_expr_get_u32(e, NFTNL_EXPR_PAYLOAD_BASE);
	const uint32_t from = nftnl_expr_get_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET);
	const uint32_t length = nftnl_expr_get_u32(e, NFTNL_EXPR_PAYLOAD_LEN);
	uint8_t octets[2][HEADER_MAX] = { { 0 } };
	bool known[2][HEADER_MAX] = { { false } };
	const size_t which = base == NFT_PAYLOAD_TRANSPORT_HEADER;
	const size_t at = place_of(reg);

	put_unknown(walk, reg);
	if ((base != NFT_PAYLOAD_NETWORK_HEADER &&
	    base != NFT_PAYLOAD_TRANSPORT_HEADER) || from > HEADER_MAX ||
	    length > HEADER_MAX - from || length > REGISTER_OCTETS - at)
		return;
	write_headers(&walk->packet, octets[0], known[0], octets[1], known[1]);
	/* The rest of the last word is clear. */
	if (at + length < REGISTER_OCTETS && length % NFT_REG32_SIZE != 0) {
		const size_t end = at + (size_t)(length + 3) / 4 * 4;

		memset(walk->registers.octets + at + length, 0,
		    end - at - length);
		memset(walk->registers.known + at + length, true,
		    end - at - length);
	}
	memcpy(walk->registers.octets + at, octets[which] + from, length);
	memcpy(walk->registers.known + at, known[which] + from, length);
}

static enum firewall_match
match_of(bool yes)
{
	return yes ? MATCH_YES : MATCH_NO;
}

static enum firewall_match
compare(const struct walk *walk, const struct nftnl_expr *e)
{
	uint32_t length = 0;
	const void *wanted = nftnl_expr_get(e, NFTNL_EXPR_CMP_DATA, &length);
	const uint8_t *value = get(walk,
	    nftnl_expr_get_u32(e, NFTNL_EXPR_CMP_SREG), length);
	int order;

	if (value == NULL || wanted == NULL)
		return MATCH_MAYBE;
	order = memcmp(value, wanted, length);
	switch (nftnl_expr_get_u32(e, NFTNL_EXPR_CMP_OP)) {
	case NFT_CMP_EQ:
		return match_of(order == 0);
	case NFT_CMP_NEQ:
		return match_of(order != 0);
	case NFT_CMP_LT:
		return match_of(order < 0);
	case NFT_CMP_LTE:
		return match_of(order <= 0);
	case NFT_CMP_GT:
		return match_of(order > 0);
	case NFT_CMP_GTE:
		return match_of(order >= 0);
	default:
		return MATCH_MAYBE;
	}
}

static enum firewall_match
compare_range(const struct walk *walk, const struct nftnl_expr *e)
{
	uint32_t length = 0, other = 0;
	const void *from = nftnl_expr_get(e, NFTNL_EXPR_RANGE_FROM_DATA,
	    &length);
	const void *to = nftnl_expr_get(e, NFTNL_EXPR_RANGE_TO_DATA, &other);
	const uint8_t *value = get(walk,
	    nftnl_expr_get_u32(e, NFTNL_EXPR_RANGE_SREG), length);
	bool in;

	if (value == NULL || from == NULL || to == NULL || other != length)
		return MATCH_MAYBE;
	in = memcmp(value, from, length) >= 0 && memcmp(value, to, length) <= 0;
	return match_of(in == (nftnl_expr_get_u32(e, NFTNL_EXPR_RANGE_OP) ==
	    NFT_RANGE_EQ));
}

static void
mask(struct walk *walk, const struct nftnl_expr *e)
{
	const size_t from = place_of(nftnl_expr_get_u32(e,
	    NFTNL_EXPR_BITWISE_SREG));
	const uint32_t to = nftnl_expr_get_u32(e, NFTNL_EXPR_BITWISE_DREG);
	uint32_t length = 0, other = 0;
	const uint8_t *bits = nftnl_expr_get(e, NFTNL_EXPR_BITWISE_MASK,
	    &length);
	const uint8_t *flip = nftnl_expr_get(e, NFTNL_EXPR_BITWISE_XOR, &other);
	const size_t at = place_of(to);
	struct registers *r = &walk->registers;

	if (nftnl_expr_get_u32(e, NFTNL_EXPR_BITWISE_OP) !=
	    NFT_BITWISE_BOOL || bits == NULL || flip == NULL ||
	    length != other || length > REGISTER_OCTETS - from ||
	    length > REGISTER_OCTETS - at) {
		put_unknown(walk, to);
		return;
	}
	for (size_t i = 0; i < length; i++) {
		r->known[at + i] = r->known[from + i] || bits[i] == 0;
		r->octets[at + i] = (uint8_t)((r->octets[from + i] & bits[i]) ^
		    flip[i]);
	}
}

/* Network and host order, of 16 and 32 bits. */
static void
swap(struct walk *walk, const struct nftnl_expr *e)
{
	const uint32_t from = nftnl_expr_get_u32(e, NFTNL_EXPR_BYTEORDER_SREG);
	const uint32_t to = nftnl_expr_get_u32(e, NFTNL_EXPR_BYTEORDER_DREG);
	const uint32_t size = nftnl_expr_get_u32(e, NFTNL_EXPR_BYTEORDER_SIZE);
	const uint32_t length = nftnl_expr_get_u32(e, NFTNL_EXPR_BYTEORDER_LEN);
	const uint8_t *value = get(walk, from, size);
	uint8_t swapped[4];

	if (value == NULL || length != size || (size != 2 && size != 4)) {
		put_unknown(walk, to);
		return;
	}
	for (uint32_t i = 0; i < size; i++)
		swapped[i] = htons(1) == 1 ? value[i] : value[size - 1 - i];
	put(walk, to, swapped, size);
}

static void
take_element(struct walk *walk, const struct nftnl_expr *e,
    struct nftnl_set_elem *elem, struct rule_outcome *outcome)
{
	const uint32_t to = nftnl_expr_get_u32(e, NFTNL_EXPR_LOOKUP_DREG);
	uint32_t length = 0;
	const void *data;

	if (to != NFT_REG_VERDICT) {
		data = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_DATA, &length);
		put_unknown(walk, to);
		if (data != NULL)
			put(walk, to, data, length);
		return;
	}
	/* libnftnl reads what is not there from NULL. */
	if (!nftnl_set_elem_is_set(elem, NFTNL_SET_ELEM_VERDICT))
		return;
	outcome->has_verdict = true;
	outcome->verdict = (int32_t)nftnl_set_elem_get_u32(elem,
	    NFTNL_SET_ELEM_VERDICT);
	outcome->chain = nftnl_set_elem_get_str(elem, NFTNL_SET_ELEM_CHAIN);
}

static enum firewall_match
look_up(struct walk *walk, const struct nftnl_expr *e,
    struct rule_outcome *outcome)
{
	struct nftnl_set *set = lookup_set(walk,
	    nftnl_expr_get_str(e, NFTNL_EXPR_LOOKUP_SET));
	const size_t length = set != NULL ?
	    nftnl_set_get_u32(set, NFTNL_SET_KEY_LEN) : 0;
	const uint8_t *key = get(walk, nftnl_expr_get_u32(e,
	    NFTNL_EXPR_LOOKUP_SREG), length);
	const bool is_map = nftnl_expr_is_set(e, NFTNL_EXPR_LOOKUP_DREG);
	const bool inverted = nftnl_expr_is_set(e, NFTNL_EXPR_LOOKUP_FLAGS) &&
	    (nftnl_expr_get_u32(e, NFTNL_EXPR_LOOKUP_FLAGS) &
	    NFT_LOOKUP_F_INV) != 0;
	struct nftnl_set_elem *elem;

	if (key == NULL) {
		if (is_map && nftnl_expr_get_u32(e,
		    NFTNL_EXPR_LOOKUP_DREG) != NFT_REG_VERDICT)
			put_unknown(walk, nftnl_expr_get_u32(e,
			    NFTNL_EXPR_LOOKUP_DREG));
		return MATCH_MAYBE;
	}
	elem = lookup_element(set, key, length);
	if (elem != NULL && is_map)
		take_element(walk, e, elem, outcome);
	return match_of((elem != NULL) != inverted);
}

static void
load_immediate(struct walk *walk, const struct nftnl_expr *e,
    struct rule_outcome *outcome)
{
	const uint32_t to = nftnl_expr_get_u32(e, NFTNL_EXPR_IMM_DREG);
	uint32_t length = 0;
	const void *data;

	if (to != NFT_REG_VERDICT) {
		data = nftnl_expr_get(e, NFTNL_EXPR_IMM_DATA, &length);
		if (data != NULL)
			put(walk, to, data, length);
		return;
	}
	outcome->has_verdict = true;
	outcome->verdict = (int32_t)nftnl_expr_get_u32(e,
	    NFTNL_EXPR_IMM_VERDICT);
	outcome->chain = nftnl_expr_get_str(e, NFTNL_EXPR_IMM_CHAIN);
}

static void
change_mark(struct walk *walk, const struct nftnl_expr *e, bool sure)
{
	const uint8_t *value;

	if (nftnl_expr_get_u32(e, NFTNL_EXPR_META_KEY) != NFT_META_MARK)
		return;
	value = get(walk, nftnl_expr_get_u32(e, NFTNL_EXPR_META_SREG),
	    sizeof(walk->packet.mark));
	walk->packet.mark_unknown = value == NULL || !sure;
	if (value != NULL)
		memcpy(&walk->packet.mark, value, sizeof(walk->packet.mark));
}

/* The port of a redirection, from its register; 0: unknown. */
static uint16_t
port_of(const struct walk *walk, const struct nftnl_expr *e, uint16_t attribute)
{
	const uint8_t *port = nftnl_expr_is_set(e, attribute) ? get(walk,
	    nftnl_expr_get_u32(e, attribute), 2) : NULL;

	return port != NULL ? (uint16_t)(port[0] << 8 | port[1]) : 0;
}

/* Terminal expressions; true if it is one. */
static bool
take_terminal(struct walk *walk, const char *name, const struct nftnl_expr *e,
    struct rule_outcome *outcome)
{
	bool ends = true;

	if (strcmp(name, "reject") == 0) {
		outcome->effect = FIREWALL_DROPS;
	} else if (strcmp(name, "queue") == 0) {
		outcome->effect = FIREWALL_QUEUES;
	} else if (strcmp(name, "redir") == 0) {
		outcome->effect = FIREWALL_REDIRECTS;
		outcome->port = port_of(walk, e, NFTNL_EXPR_REDIR_REG_PROTO_MIN);
	} else if (strcmp(name, "nat") == 0 && nftnl_expr_get_u32(e,
	    NFTNL_EXPR_NAT_TYPE) == NFT_NAT_DNAT) {
		outcome->effect = FIREWALL_REDIRECTS;
		outcome->port = port_of(walk, e, NFTNL_EXPR_NAT_REG_PROTO_MIN);
	} else if (strcmp(name, "nat") == 0 || strcmp(name, "masq") == 0 ||
	    strcmp(name, "tproxy") == 0 || strcmp(name, "fwd") == 0) {
		outcome->has_verdict = true;
		outcome->verdict = NF_ACCEPT;
	} else if (strcmp(name, "target") == 0) {
		outcome->effect = xt_target(nftnl_expr_get_str(e,
		    NFTNL_EXPR_TG_NAME), &ends);
		if (ends && outcome->effect == FIREWALL_PASSES) {
			outcome->has_verdict = true;
			outcome->verdict = NF_ACCEPT;
		}
	} else {
		ends = false;
	}
	return ends;
}

/* Expressions that let all packets go on and load nothing. */
static bool
is_harmless(const char *name)
{
	static const char *const names[] = { "counter", "log", "notrack", "dup",
	    "objref", "dynset", "last", "synproxy", "target", "meta", "ct" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Expressions that load a register, of which we know only that. */
static bool
forget_loaded(struct walk *walk, const char *name)
{
	static const char *const loaders[] = { "fib", "rt", "socket", "numgen",
	    "hash", "exthdr", "osf", "tunnel", "xfrm", "inner" };

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (strcmp(name, loaders[i]) == 0) {
			memset(walk->registers.known, false,
			    sizeof(walk->registers.known));
			return true;
		}
	return false;
}

static enum firewall_match
take_xt_match(const struct walk *walk, const struct nftnl_expr *e)
{
	uint32_t length = 0;
	const void *info = nftnl_expr_get(e, NFTNL_EXPR_MT_INFO, &length);

	return xt_match(&walk->packet,
	    nftnl_expr_get_str(e, NFTNL_EXPR_MT_NAME),
	    nftnl_expr_get_u32(e, NFTNL_EXPR_MT_REV), info, length);
}

/* Loads and conditions; others are MATCH_MAYBE. */
static enum firewall_match
take_expression(struct walk *walk, const char *name, const struct nftnl_expr *e,
    struct rule_outcome *outcome)
{
	if (strcmp(name, "cmp") == 0)
		return compare(walk, e);
	if (strcmp(name, "range") == 0)
		return compare_range(walk, e);
	if (strcmp(name, "lookup") == 0)
		return look_up(walk, e, outcome);
	if (strcmp(name, "match") == 0)
		return take_xt_match(walk, e);
	if (strcmp(name, "meta") == 0 &&
	    nftnl_expr_is_set(e, NFTNL_EXPR_META_DREG))
		load_meta(walk, nftnl_expr_get_u32(e, NFTNL_EXPR_META_KEY),
		    nftnl_expr_get_u32(e, NFTNL_EXPR_META_DREG));
	else if (strcmp(name, "meta") == 0)
		change_mark(walk, e, outcome->match == MATCH_YES &&
		    !walk->unsure && !walk->doubt);
	else if (strcmp(name, "payload") == 0 &&
	    nftnl_expr_is_set(e, NFTNL_EXPR_PAYLOAD_DREG))
		load_payload(walk, e, nftnl_expr_get_u32(e,
		    NFTNL_EXPR_PAYLOAD_DREG));
	else if (strcmp(name, "ct") == 0 &&
	    nftnl_expr_is_set(e, NFTNL_EXPR_CT_DREG)) {
		const uint32_t to = nftnl_expr_get_u32(e, NFTNL_EXPR_CT_DREG);

		put_unknown(walk, to);
		if (nftnl_expr_get_u32(e, NFTNL_EXPR_CT_KEY) == NFT_CT_STATE)
			put_u32(walk, to, walk->packet.ct_state);
	} else if (strcmp(name, "bitwise") == 0)
		mask(walk, e);
	else if (strcmp(name, "byteorder") == 0)
		swap(walk, e);
	else if (strcmp(name, "immediate") == 0)
		load_immediate(walk, e, outcome);
	else if (!is_harmless(name) && !forget_loaded(walk, name))
		return MATCH_MAYBE;	/* limit, quota, connlimit ... */
	return MATCH_YES;
}

void
walk_rule_expressions(struct walk *walk, struct nftnl_rule *rule,
    struct rule_outcome *outcome)
{
	struct nftnl_expr_iter *expressions = nftnl_expr_iter_create(rule);
	struct nftnl_expr *e;

	memset(&walk->registers, 0, sizeof(walk->registers));
	if (expressions == NULL)
		outcome->match = MATCH_MAYBE;
	while (expressions != NULL && outcome->match != MATCH_NO &&
	    (e = nftnl_expr_iter_next(expressions)) != NULL) {
		const char *name = nftnl_expr_get_str(e, NFTNL_EXPR_NAME);
		enum firewall_match match;

		if (name == NULL) {
			outcome->match = MATCH_MAYBE;
			continue;
		}
		if (take_terminal(walk, name, e, outcome))
			break;
		match = take_expression(walk, name, e, outcome);
		if (match < outcome->match)
			outcome->match = match;
	}
	if (expressions != NULL)
		nftnl_expr_iter_destroy(expressions);
}
