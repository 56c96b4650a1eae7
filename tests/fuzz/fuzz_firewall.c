/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as rule sets of other programs, and packets through them.  The octets say
 * what libnftnl builds and reads again: tables, chains, sets, elements, rules with any
 * expressions, attributes and xt matches.  (libnftnl itself ends the process where the
 * kernel's message has another form than it knows.)
 */
#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/firewall/internal.h"
#include "tests/fuzz/fuzz.h"

#define VALUE_MAX	64		/* octets of an attribute */

static _Alignas(8) char buffer[1 << 16];

struct input {
	const uint8_t *octets;
	size_t left;
};

static uint8_t
octet(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->octets++;
}

static uint32_t
word(struct input *in)
{
	uint32_t value = octet(in);

	for (int i = 0; i < 3; i++)
		value = value << 8 | octet(in);
	return value;
}

/* Longer than what libnftnl copies of a number; a text ends in it. */
static uint32_t
value(struct input *in, uint8_t to[static VALUE_MAX + 1])
{
	const uint32_t length = octet(in) % (VALUE_MAX + 1);

	memset(to, 0, VALUE_MAX + 1);
	for (uint32_t i = 0; i < length; i++)
		to[i] = octet(in);
	return length;
}

static const char *
name(struct input *in)
{
	static const char *const names[] = { "a", "b", "c", "own" };

	return names[octet(in) % (sizeof(names) / sizeof(names[0]))];
}

static struct nlmsghdr *
message(uint16_t type, struct input *in)
{
	static const uint16_t families[] = { NFPROTO_INET, NFPROTO_IPV4,
		NFPROTO_IPV6, NFPROTO_BRIDGE };

	return nftnl_nlmsg_build_hdr(buffer, type, families[octet(in) % 4], 0, 1);
}

static void
put_table(struct nft_dump *dump, struct input *in)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWTABLE, in);
	struct nftnl_table *t = nftnl_table_alloc();

	nftnl_table_set_str(t, NFTNL_TABLE_NAME, name(in));
	nftnl_table_set_u32(t, NFTNL_TABLE_FLAGS, octet(in));
	nftnl_table_nlmsg_build_payload(m, t);
	check(nft_dump_take(m, dump) == 0);
	nftnl_table_free(t);
}

static void
put_chain(struct nft_dump *dump, struct input *in)
{
	static const char *const types[] = { "filter", "nat", "route" };
	struct nlmsghdr *m = message(NFT_MSG_NEWCHAIN, in);
	struct nftnl_chain *c = nftnl_chain_alloc();
	const uint8_t hook = octet(in);

	nftnl_chain_set_str(c, NFTNL_CHAIN_TABLE, name(in));
	nftnl_chain_set_str(c, NFTNL_CHAIN_NAME, name(in));
	if (hook < 64) {
		nftnl_chain_set_u32(c, NFTNL_CHAIN_HOOKNUM, hook % 5);
		nftnl_chain_set_s32(c, NFTNL_CHAIN_PRIO, (int32_t)word(in));
		nftnl_chain_set_str(c, NFTNL_CHAIN_TYPE, types[hook % 3]);
		nftnl_chain_set_u32(c, NFTNL_CHAIN_POLICY, octet(in));
	}
	nftnl_chain_nlmsg_build_payload(m, c);
	check(nft_dump_take(m, dump) == 0);
	nftnl_chain_free(c);
}

/* One message each: of several, libnftnl reads its own no more. */
static void
put_element(struct nft_dump *dump, struct input *in)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWSETELEM, in);
	struct nftnl_set *s = nftnl_set_alloc();
	struct nftnl_set_elem *e = nftnl_set_elem_alloc();
	const uint8_t kind = octet(in);
	uint8_t octets[VALUE_MAX + 1];
	uint32_t length = value(in, octets);

	nftnl_set_elem_set(e, NFTNL_SET_ELEM_KEY, octets, length);
	nftnl_set_elem_set_u32(e, NFTNL_SET_ELEM_FLAGS, kind & 3);
	if ((kind & 4) != 0) {
		length = value(in, octets);
		nftnl_set_elem_set(e, NFTNL_SET_ELEM_KEY_END, octets, length);
	}
	if ((kind & 8) != 0) {
		length = value(in, octets);
		nftnl_set_elem_set(e, NFTNL_SET_ELEM_DATA, octets, length);
	} else if ((kind & 16) != 0) {
		nftnl_set_elem_set_u32(e, NFTNL_SET_ELEM_VERDICT,
		    (uint32_t)(int8_t)octet(in));
		nftnl_set_elem_set_str(e, NFTNL_SET_ELEM_CHAIN, name(in));
	}
	nftnl_set_elem_add(s, e);
	nftnl_set_set_str(s, NFTNL_SET_TABLE, "a");
	nftnl_set_set_str(s, NFTNL_SET_NAME, "a");
	nftnl_set_elems_nlmsg_build_payload(m, s);
	check(nft_dump_take(m, dump) == 0);
	nftnl_set_free(s);
}

static void
put_set(struct nft_dump *dump, struct input *in)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWSET, in);
	struct nftnl_set *s = nftnl_set_alloc(), *last = NULL;
	struct nftnl_set_list_iter *sets;

	nftnl_set_set_str(s, NFTNL_SET_TABLE, name(in));
	nftnl_set_set_str(s, NFTNL_SET_NAME, name(in));
	nftnl_set_set_u32(s, NFTNL_SET_FLAGS, octet(in));
	nftnl_set_set_u32(s, NFTNL_SET_KEY_LEN, octet(in));
	nftnl_set_nlmsg_build_payload(m, s);
	check(nft_dump_take(m, dump) == 0);
	sets = nftnl_set_list_iter_create(dump->sets);
	while ((dump->filled = nftnl_set_list_iter_next(sets)) != NULL)
		last = dump->filled;
	nftnl_set_list_iter_destroy(sets);
	dump->filled = last;
	nftnl_set_free(s);
	for (uint8_t count = octet(in) % 8; count > 0; count--)
		put_element(dump, in);
}

/* It owns the octets of the match. */
static void
put_match(struct nftnl_expr *e, struct input *in)
{
	static const char *const matches[] = { "comment", "udp", "tcp", "owner",
		"conntrack", "mark", "multiport", "other" };
	const size_t length = octet(in) + 1U;
	uint8_t *info = malloc(length);

	check(info != NULL);
	for (size_t i = 0; i < length; i++)
		info[i] = octet(in);
	nftnl_expr_set_str(e, NFTNL_EXPR_MT_NAME, matches[octet(in) % 8]);
	nftnl_expr_set_u32(e, NFTNL_EXPR_MT_REV, octet(in) % 4);
	nftnl_expr_set(e, NFTNL_EXPR_MT_INFO, info, (uint32_t)length);
}

static void
put_expression(struct nftnl_rule *r, struct input *in)
{
	static const char *const kinds[] = { "meta", "payload", "cmp", "range",
		"bitwise", "byteorder", "lookup", "immediate", "ct", "redir",
		"nat", "reject", "queue", "match", "counter", "limit", "fib",
		"masq" };
	const char *kind = kinds[octet(in) % (sizeof(kinds) / sizeof(kinds[0]))];
	struct nftnl_expr *e = nftnl_expr_alloc(kind);
	uint8_t octets[VALUE_MAX + 1];

	check(e != NULL);
	nftnl_rule_add_expr(r, e);
	if (strcmp(kind, "match") == 0) {
		put_match(e, in);
		return;
	}
	for (uint8_t count = octet(in) % 8; count > 0; count--) {
		const uint16_t attribute = NFTNL_EXPR_BASE + octet(in) % 10;
		const uint32_t length = value(in, octets);

		(void)nftnl_expr_set(e, attribute, octets, length);
	}
}

static void
put_rule(struct nft_dump *dump, struct input *in)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWRULE, in);
	struct nftnl_rule *r = nftnl_rule_alloc();

	nftnl_rule_set_str(r, NFTNL_RULE_TABLE, name(in));
	nftnl_rule_set_str(r, NFTNL_RULE_CHAIN, name(in));
	for (uint8_t count = octet(in) % 16; count > 0; count--)
		put_expression(r, in);
	nftnl_rule_nlmsg_build_payload(m, r);
	check(nft_dump_take(m, dump) == 0);
	nftnl_rule_free(r);
}

static void
judge(const struct firewall *firewall, int family, uint8_t protocol,
    unsigned int hook)
{
	const struct firewall_place place = { .hook = hook,
	    .from = FIREWALL_FIRST, .to = FIREWALL_LAST };
	const struct firewall_packet packet = { .family = family,
		.protocol = protocol, .source = { 10, 1 },
		.destination = { 192, 0, 2, 1 }, .destination_port = 53,
		.tcp_flags = 2, .ct_state = FIREWALL_CT_NEW, .uid = 1000,
		.out = hook == NF_INET_LOCAL_OUT ? "lo" : NULL };
	struct firewall_verdict verdict;

	firewall_judge(firewall, &place, &packet, &verdict);
	if (verdict.effect == FIREWALL_PASSES)
		return;
	check(strcmp(verdict.family, family == AF_INET ? "ip6" : "ip") != 0);
	check(strcmp(verdict.family, "inet") != 0 ||
	    strcmp(verdict.table, firewall->dump.own) != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const puts[])(struct nft_dump *, struct input *) = {
		put_table, put_chain, put_set, put_rule, put_rule };
	struct input in = { data, size < 4096 ? size : 4096 };
	struct firewall firewall;
	char text[3 * FIREWALL_NAME];

	check(nft_dump_init(&firewall.dump, "own", true) == 0);
	while (in.left > 0)
		puts[octet(&in) % 5](&firewall.dump, &in);
	for (unsigned int hook = 0; hook < NF_INET_NUMHOOKS; hook++) {
		judge(&firewall, AF_INET, IPPROTO_UDP, hook);
		judge(&firewall, AF_INET, IPPROTO_TCP, hook);
		judge(&firewall, AF_INET6, IPPROTO_UDP, hook);
	}
	(void)firewall_drop_policies(&firewall, text, sizeof(text));
	nft_dump_free(&firewall.dump);
	return 0;
}
