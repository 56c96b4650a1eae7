/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets through chains of other programs, which come as the kernel's messages: the
 * rules are made by libnftnl, as nft(8) does.
 */
#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/xt_owner.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/firewall/internal.h"
#include "tests/check.h"

#define TABLE	"other"

static struct firewall firewall;
static char buffer[16384] __attribute__((aligned(8)));

static void
begin(void)
{
	CHECK(nft_dump_init(&firewall.dump, "nfdns", true) == 0);
}

static void
finish(void)
{
	nft_dump_free(&firewall.dump);
}

static struct nlmsghdr *
message(uint16_t type, uint16_t family)
{
	return nftnl_nlmsg_build_hdr(buffer, type, family, 0, 1);
}

static void
table(const char *name, uint32_t flags)
{
	struct nftnl_table *t = nftnl_table_alloc();
	struct nlmsghdr *m = message(NFT_MSG_NEWTABLE, NFPROTO_INET);

	nftnl_table_set_str(t, NFTNL_TABLE_NAME, name);
	nftnl_table_set_u32(t, NFTNL_TABLE_FLAGS, flags);
	nftnl_table_nlmsg_build_payload(m, t);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	nftnl_table_free(t);
}

/* type NULL: no base chain. */
static void
chain(const char *of, const char *name, const char *type, int32_t priority,
    uint32_t policy)
{
	struct nftnl_chain *c = nftnl_chain_alloc();
	struct nlmsghdr *m = message(NFT_MSG_NEWCHAIN, NFPROTO_INET);

	nftnl_chain_set_str(c, NFTNL_CHAIN_TABLE, of);
	nftnl_chain_set_str(c, NFTNL_CHAIN_NAME, name);
	if (type != NULL) {
		nftnl_chain_set_str(c, NFTNL_CHAIN_TYPE, type);
		nftnl_chain_set_u32(c, NFTNL_CHAIN_HOOKNUM, NF_INET_LOCAL_OUT);
		nftnl_chain_set_s32(c, NFTNL_CHAIN_PRIO, priority);
		nftnl_chain_set_u32(c, NFTNL_CHAIN_POLICY, policy);
	}
	nftnl_chain_nlmsg_build_payload(m, c);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	nftnl_chain_free(c);
}

/* A rule is begun, gets expressions, and is given to the chain. */
static struct nftnl_rule *
rule(const char *of, const char *name, uint64_t handle)
{
	struct nftnl_rule *r = nftnl_rule_alloc();

	nftnl_rule_set_str(r, NFTNL_RULE_TABLE, of);
	nftnl_rule_set_str(r, NFTNL_RULE_CHAIN, name);
	nftnl_rule_set_u64(r, NFTNL_RULE_HANDLE, handle);
	return r;
}

static void
add(struct nftnl_rule *r)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWRULE, NFPROTO_INET);

	nftnl_rule_nlmsg_build_payload(m, r);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	nftnl_rule_free(r);
}

static struct nftnl_expr *
expression(struct nftnl_rule *r, const char *name)
{
	struct nftnl_expr *e = nftnl_expr_alloc(name);

	nftnl_rule_add_expr(r, e);
	return e;
}

static void
compare(struct nftnl_rule *r, const void *octets, uint32_t length)
{
	struct nftnl_expr *e = expression(r, "cmp");

	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_OP, NFT_CMP_EQ);
	nftnl_expr_set(e, NFTNL_EXPR_CMP_DATA, octets, length);
}

static void
load_port(struct nftnl_rule *r)
{
	struct nftnl_expr *e = expression(r, "payload");

	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE,
	    NFT_PAYLOAD_TRANSPORT_HEADER);
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, 2);
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, 2);
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
}

/* "th dport PORT" */
static void
to_port(struct nftnl_rule *r, uint16_t port)
{
	const uint16_t octets = htons(port);

	load_port(r);
	compare(r, &octets, sizeof(octets));
}

static void
verdict(struct nftnl_rule *r, int32_t code, const char *to)
{
	struct nftnl_expr *e = expression(r, "immediate");

	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_VERDICT, (uint32_t)code);
	if (to != NULL)
		nftnl_expr_set_str(e, NFTNL_EXPR_IMM_CHAIN, to);
}

static const struct firewall_packet question = { .family = AF_INET,
	.protocol = IPPROTO_UDP, .source = { 10, 0, 0, 1 },
	.destination = { 192, 0, 2, 1 }, .source_port = 4000,
	.destination_port = 53, .ct_state = FIREWALL_CT_NEW, .uid = 1000,
	.out = "eth0" };

static struct firewall_verdict
judged(const struct firewall_packet *packet)
{
	const struct firewall_place place = { NF_INET_LOCAL_OUT, FIREWALL_FIRST,
		FIREWALL_LAST };
	struct firewall_verdict found;

	firewall_judge(&firewall, &place, packet, &found);
	return found;
}

static void
a_rule_drops_its_port_only(void)
{
	struct firewall_packet other = question;
	struct firewall_verdict v;
	struct nftnl_rule *r;

	begin();
	table(TABLE, 0);
	chain(TABLE, "out", "filter", -400, NF_ACCEPT);
	r = rule(TABLE, "out", 7);
	to_port(r, 53);
	verdict(r, NF_DROP, NULL);
	add(r);
	v = judged(&question);
	CHECK(v.effect == FIREWALL_DROPS && v.certain && v.handle == 7);
	CHECK(v.priority == -400 && strcmp(v.table, TABLE) == 0);
	CHECK(strcmp(v.family, "inet") == 0 && strcmp(v.base, "out") == 0);
	other.destination_port = 54;
	CHECK(judged(&other).effect == FIREWALL_PASSES);
	other.destination_port = 0;
	v = judged(&other);
	CHECK(v.effect == FIREWALL_DROPS && !v.certain);
	finish();
}

/* Ours, and those that are switched off. */
static void
tables_that_count_not(void)
{
	begin();
	table("nfdns", 0);
	chain("nfdns", "out", "filter", 0, NF_DROP);
	table("asleep", NFT_TABLE_F_DORMANT);
	chain("asleep", "out", "filter", 0, NF_DROP);
	CHECK(judged(&question).effect == FIREWALL_PASSES);
	table(TABLE, 0);
	chain(TABLE, "out", "filter", 0, NF_DROP);
	CHECK(judged(&question).effect == FIREWALL_DROPS);
	CHECK(judged(&question).handle == 0);
	finish();
}

/* meta l4proto udp jump dns; in dns: return, or port 53 to another one. */
static void
jumps_and_redirections(void)
{
	const uint8_t udp = IPPROTO_UDP;
	const uint16_t port = htons(5353);
	struct firewall_packet known = question;
	struct firewall_verdict v;
	struct nftnl_expr *e;
	struct nftnl_rule *r;

	begin();
	table(TABLE, 0);
	chain(TABLE, "out", "nat", -100, NF_ACCEPT);
	chain(TABLE, "dns", NULL, 0, 0);
	r = rule(TABLE, "out", 3);
	e = expression(r, "meta");
	nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, NFT_META_L4PROTO);
	nftnl_expr_set_u32(e, NFTNL_EXPR_META_DREG, NFT_REG_1);
	compare(r, &udp, sizeof(udp));
	verdict(r, NFT_JUMP, "dns");
	add(r);
	r = rule(TABLE, "dns", 4);
	to_port(r, 80);
	verdict(r, NFT_RETURN, NULL);
	add(r);
	r = rule(TABLE, "dns", 5);
	e = expression(r, "immediate");
	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
	nftnl_expr_set(e, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
	e = expression(r, "redir");
	nftnl_expr_set_u32(e, NFTNL_EXPR_REDIR_REG_PROTO_MIN, NFT_REG_1);
	add(r);
	v = judged(&question);
	CHECK(v.effect == FIREWALL_REDIRECTS && v.certain && v.port == 5353);
	CHECK(v.handle == 5 && strcmp(v.chain, "dns") == 0);
	known.destination_port = 80;
	CHECK(judged(&known).effect == FIREWALL_PASSES);
	/* Only the first packet of a connection comes to a nat chain. */
	known = question;
	known.ct_state = FIREWALL_CT_ESTABLISHED;
	CHECK(judged(&known).effect == FIREWALL_PASSES);
	finish();
}

/* Of the set that came last; one a message, as libnftnl reads them. */
static void
element(uint16_t port, uint32_t flags)
{
	struct nlmsghdr *m = message(NFT_MSG_NEWSETELEM, NFPROTO_INET);
	struct nftnl_set_elem *elem = nftnl_set_elem_alloc();
	struct nftnl_set *s = nftnl_set_alloc();
	const uint16_t key = htons(port);

	nftnl_set_set_str(s, NFTNL_SET_TABLE, TABLE);
	nftnl_set_set_str(s, NFTNL_SET_NAME, "ports");
	nftnl_set_elem_set(elem, NFTNL_SET_ELEM_KEY, &key, sizeof(key));
	if (flags != 0)
		nftnl_set_elem_set_u32(elem, NFTNL_SET_ELEM_FLAGS, flags);
	nftnl_set_elem_add(s, elem);
	nftnl_set_elems_nlmsg_build_payload(m, s);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	nftnl_set_free(s);
}

/* An interval 50-59 as nft sends it: the first value, and the one behind the last. */
static void
sets_of_ports(void)
{
	struct nftnl_set *s = nftnl_set_alloc();
	struct firewall_packet other = question;
	struct nftnl_set_list_iter *sets;
	struct nlmsghdr *m;
	struct nftnl_expr *e;
	struct nftnl_rule *r;

	begin();
	table(TABLE, 0);
	chain(TABLE, "out", "filter", 0, NF_ACCEPT);
	nftnl_set_set_str(s, NFTNL_SET_TABLE, TABLE);
	nftnl_set_set_str(s, NFTNL_SET_NAME, "ports");
	nftnl_set_set_u32(s, NFTNL_SET_FAMILY, NFPROTO_INET);
	nftnl_set_set_u32(s, NFTNL_SET_FLAGS, NFT_SET_INTERVAL);
	nftnl_set_set_u32(s, NFTNL_SET_KEY_LEN, 2);
	m = message(NFT_MSG_NEWSET, NFPROTO_INET);
	nftnl_set_nlmsg_build_payload(m, s);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	nftnl_set_free(s);
	sets = nftnl_set_list_iter_create(firewall.dump.sets);
	firewall.dump.filled = nftnl_set_list_iter_next(sets);
	nftnl_set_list_iter_destroy(sets);
	element(50, 0);
	element(60, NFT_SET_ELEM_INTERVAL_END);
	r = rule(TABLE, "out", 2);
	load_port(r);
	e = expression(r, "lookup");
	nftnl_expr_set_str(e, NFTNL_EXPR_LOOKUP_SET, "ports");
	nftnl_expr_set_u32(e, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	verdict(r, NF_DROP, NULL);
	add(r);
	CHECK(judged(&question).effect == FIREWALL_DROPS);
	CHECK(judged(&question).certain);
	for (uint16_t port = 48; port < 63; port++) {
		other.destination_port = port;
		CHECK((judged(&other).effect == FIREWALL_DROPS) ==
		    (port >= 50 && port < 60));
	}
	finish();
}

/* What is not known lets both be: what is behind it is not certain. */
static void
what_is_not_known(void)
{
	struct firewall_verdict v;
	struct nftnl_rule *r;

	begin();
	table(TABLE, 0);
	chain(TABLE, "out", "filter", 0, NF_ACCEPT);
	r = rule(TABLE, "out", 2);
	(void)expression(r, "limit");
	verdict(r, NF_ACCEPT, NULL);
	add(r);
	r = rule(TABLE, "out", 3);
	verdict(r, NF_DROP, NULL);
	add(r);
	v = judged(&question);
	CHECK(v.effect == FIREWALL_DROPS && !v.certain && v.handle == 3);
	finish();
}

/* A chain that jumps to itself, and many that jump to each other often. */
static void
loops_end(void)
{
	begin();
	table(TABLE, 0);
	chain(TABLE, "out", "filter", 0, NF_ACCEPT);
	for (uint64_t i = 0; i < 2000; i++) {
		struct nftnl_rule *r = rule(TABLE, "out", i + 1);

		verdict(r, NFT_JUMP, "out");
		add(r);
	}
	CHECK(judged(&question).effect == FIREWALL_PASSES);
	finish();
}

static void
matches_of_xtables(void)
{
	struct xt_owner_match_info owner = { .uid_min = 1000, .uid_max = 1000,
		.match = XT_OWNER_UID };
	struct firewall_packet other = question;
	bool ends;

	CHECK(xt_match(&question, "owner", 1, &owner, sizeof(owner)) ==
	    MATCH_YES);
	other.uid = 0;
	CHECK(xt_match(&other, "owner", 1, &owner, sizeof(owner)) == MATCH_NO);
	CHECK(xt_match(&question, "owner", 1, &owner, sizeof(owner) - 1) ==
	    MATCH_MAYBE);
	CHECK(xt_match(&question, "owner", 2, &owner, sizeof(owner)) ==
	    MATCH_MAYBE);
	CHECK(xt_match(&question, "string", 1, &owner, sizeof(owner)) ==
	    MATCH_MAYBE);
	CHECK(xt_match(&question, NULL, 1, NULL, 0) == MATCH_MAYBE);
	CHECK(xt_target("DNAT", &ends) == FIREWALL_REDIRECTS && ends);
	CHECK(xt_target("LOG", &ends) == FIREWALL_PASSES && !ends);
}

/* Without a chain's or a rule's name. */
static void
messages_cut_short(void)
{
	struct nlmsghdr *m;

	begin();
	m = message(NFT_MSG_NEWCHAIN, NFPROTO_INET);
	mnl_attr_put_strz(m, NFTA_CHAIN_TABLE, TABLE);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	m = message(NFT_MSG_NEWRULE, NFPROTO_INET);
	mnl_attr_put_strz(m, NFTA_RULE_TABLE, TABLE);
	CHECK(nft_dump_take(m, &firewall.dump) == 0);
	CHECK(judged(&question).effect == FIREWALL_PASSES);
	finish();
}

/* What was on the stack does not go to the kernel behind a name (valgrind). */
static void
requests_are_padded(void)
{
	struct netlink netlink = { .table = TABLE };
	struct nlmsghdr *m;

	memset(buffer, 0xff, NETLINK_REQUEST_MAX);
	m = netlink_request(&netlink, buffer, NFT_MSG_GETRULE, NLM_F_DUMP);
	mnl_attr_put_strz(m, NFTA_RULE_TABLE, "a");
	CHECK(memcmp(buffer + m->nlmsg_len - 4, "a\0\0\0", 4) == 0);
}

int
main(void)
{
	TEST(a_rule_drops_its_port_only);
	TEST(tables_that_count_not);
	TEST(jumps_and_redirections);
	TEST(sets_of_ports);
	TEST(what_is_not_known);
	TEST(loops_end);
	TEST(matches_of_xtables);
	TEST(messages_cut_short);
	TEST(requests_are_padded);
	return test_summary();
}
