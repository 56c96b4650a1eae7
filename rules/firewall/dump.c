/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "rules/firewall/internal.h"
#include "rules/netlink/netlink.h"

/* How often a read starts again because another program changed the rules. */
#define READ_TRIES	10

/* Where a dump goes, and what is left out of it. */
struct reading {
	struct firewall *firewall;
	const char *own;
};

const char *
firewall_family(uint32_t family)
{
	switch (family) {
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	case NFPROTO_INET:
		return "inet";
	default:
		return NULL;		/* it sees no packet of ours */
	}
}

uint32_t
firewall_interface(const char *name)
{
	return name != NULL ? if_nametoindex(name) : 0;
}

static bool
is_wanted(const struct reading *r, uint32_t family, const char *table)
{
	return firewall_family(family) != NULL && table != NULL &&
	    (family != NFPROTO_INET || strcmp(table, r->own) != 0);
}

static int
receive_table(const struct nlmsghdr *message, void *data)
{
	const struct reading *r = data;
	struct nftnl_table *table = nftnl_table_alloc();

	if (table == NULL)
		return -ENOMEM;
	if (nftnl_table_nlmsg_parse(message, table) == 0 &&
	    (nftnl_table_get_u32(table, NFTNL_TABLE_FLAGS) &
	    NFT_TABLE_F_DORMANT) != 0)
		nftnl_table_list_add_tail(table, r->firewall->dormant);
	else
		nftnl_table_free(table);
	return 0;
}

/* No packet comes to the chains of such a table. */
static bool
is_dormant(const struct firewall *firewall, const struct nftnl_chain *chain)
{
	struct nftnl_table_list_iter *tables =
	    nftnl_table_list_iter_create(firewall->dormant);
	struct nftnl_table *table = NULL;

	while (tables != NULL &&
	    (table = nftnl_table_list_iter_next(tables)) != NULL)
		if (nftnl_table_get_u32(table, NFTNL_TABLE_FAMILY) ==
		    nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY) &&
		    strcmp(nftnl_table_get_str(table, NFTNL_TABLE_NAME),
		    nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE)) == 0)
			break;
	if (tables != NULL)
		nftnl_table_list_iter_destroy(tables);
	return table != NULL;
}

static int
receive_chain(const struct nlmsghdr *message, void *data)
{
	const struct reading *r = data;
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) == 0 &&
	    nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME) != NULL &&
	    is_wanted(r, nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY),
	    nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE)) &&
	    !is_dormant(r->firewall, chain))
		nftnl_chain_list_add_tail(chain, r->firewall->chains);
	else
		nftnl_chain_free(chain);
	return 0;
}

static int
receive_rule(const struct nlmsghdr *message, void *data)
{
	const struct reading *r = data;
	struct nftnl_rule *rule = nftnl_rule_alloc();

	if (rule == NULL)
		return -ENOMEM;
	if (nftnl_rule_nlmsg_parse(message, rule) == 0 &&
	    nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN) != NULL &&
	    is_wanted(r, nftnl_rule_get_u32(rule, NFTNL_RULE_FAMILY),
	    nftnl_rule_get_str(rule, NFTNL_RULE_TABLE)))
		nftnl_rule_list_add_tail(rule, r->firewall->rules);
	else
		nftnl_rule_free(rule);
	return 0;
}

static int
receive_set(const struct nlmsghdr *message, void *data)
{
	const struct reading *r = data;
	struct nftnl_set *set = nftnl_set_alloc();

	if (set == NULL)
		return -ENOMEM;
	if (nftnl_set_nlmsg_parse(message, set) == 0 &&
	    nftnl_set_get_str(set, NFTNL_SET_NAME) != NULL &&
	    is_wanted(r, nftnl_set_get_u32(set, NFTNL_SET_FAMILY),
	    nftnl_set_get_str(set, NFTNL_SET_TABLE)))
		nftnl_set_list_add_tail(set, r->firewall->sets);
	else
		nftnl_set_free(set);
	return 0;
}

/* An element that this libnftnl cannot read is left out. */
static int
receive_elements(const struct nlmsghdr *message, void *data)
{
	(void)nftnl_set_elems_nlmsg_parse(message, data);
	return 0;
}

/* Asks for the objects of one kind in all tables of all families. */
static int
read_kind(struct netlink *netlink, uint16_t type, netlink_receive_fn receive,
    struct reading *r)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer, type,
	    NLM_F_DUMP);
	struct nfgenmsg *head = mnl_nlmsg_get_payload(message);

	head->nfgen_family = AF_UNSPEC;
	return netlink_talk(netlink, message, receive, r);
}

static int
read_elements(struct netlink *netlink, struct nftnl_set *set)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSETELEM, NLM_F_DUMP);
	struct nfgenmsg *head = mnl_nlmsg_get_payload(message);
	int error;

	head->nfgen_family =
	    (uint8_t)nftnl_set_get_u32(set, NFTNL_SET_FAMILY);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE,
	    nftnl_set_get_str(set, NFTNL_SET_TABLE));
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET,
	    nftnl_set_get_str(set, NFTNL_SET_NAME));
	error = netlink_talk(netlink, message, receive_elements, set);
	return error == -ENOENT ? -EINTR : error;	/* it went meanwhile */
}

static int
read_all_elements(struct netlink *netlink, struct firewall *firewall)
{
	struct nftnl_set_list_iter *sets =
	    nftnl_set_list_iter_create(firewall->sets);
	struct nftnl_set *set;
	int error = sets != NULL ? 0 : -ENOMEM;

	while (error == 0 && (set = nftnl_set_list_iter_next(sets)) != NULL)
		error = read_elements(netlink, set);
	if (sets != NULL)
		nftnl_set_list_iter_destroy(sets);
	return error;
}

/* One try; -EINTR when the rule set changed under it. */
static int
read_all(struct netlink *netlink, struct firewall *firewall, const char *own)
{
	struct reading r = { .firewall = firewall, .own = own };
	uint32_t before = 0, after = 0;
	int error;

	firewall->dormant = nftnl_table_list_alloc();
	firewall->chains = nftnl_chain_list_alloc();
	firewall->rules = nftnl_rule_list_alloc();
	firewall->sets = nftnl_set_list_alloc();
	if (firewall->dormant == NULL || firewall->chains == NULL ||
	    firewall->rules == NULL || firewall->sets == NULL)
		return -ENOMEM;
	error = netlink_generation(netlink, &before);
	if (error == 0)
		error = read_kind(netlink, NFT_MSG_GETTABLE, receive_table, &r);
	if (error == 0)
		error = read_kind(netlink, NFT_MSG_GETCHAIN, receive_chain, &r);
	if (error == 0)
		error = read_kind(netlink, NFT_MSG_GETSET, receive_set, &r);
	if (error == 0)
		error = read_all_elements(netlink, firewall);
	if (error == 0)
		error = read_kind(netlink, NFT_MSG_GETRULE, receive_rule, &r);
	if (error == 0)
		error = netlink_generation(netlink, &after);
	return error == 0 && before != after ? -EINTR : error;
}

static void
forget(struct firewall *firewall)
{
	if (firewall->dormant != NULL)
		nftnl_table_list_free(firewall->dormant);
	if (firewall->chains != NULL)
		nftnl_chain_list_free(firewall->chains);
	if (firewall->rules != NULL)
		nftnl_rule_list_free(firewall->rules);
	if (firewall->sets != NULL)
		nftnl_set_list_free(firewall->sets);
	memset(firewall, 0, sizeof(*firewall));
}

int
firewall_open(struct firewall **result, const char *own)
{
	struct firewall *firewall = calloc(1, sizeof(*firewall));
	struct netlink netlink;
	int error;

	*result = NULL;
	if (firewall == NULL)
		return -ENOMEM;
	error = netlink_open(&netlink, own);
	if (error == 0) {
		error = -EINTR;
		for (int i = 0; error == -EINTR && i < READ_TRIES; i++) {
			forget(firewall);
			error = read_all(&netlink, firewall, own);
		}
		netlink_close(&netlink);
	}
	if (error == 0)
		*result = firewall;
	else
		firewall_close(firewall);
	return error;
}

void
firewall_close(struct firewall *firewall)
{
	if (firewall == NULL)
		return;
	forget(firewall);
	free(firewall);
}
