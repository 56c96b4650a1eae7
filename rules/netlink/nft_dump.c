/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/netlink/nft_dump.h"

/* How often a read starts again because another program changed the rules. */
#define READ_TRIES	10

/* Older kernels send the objects of all tables, whatever was asked for. */
static bool
is_wanted(const struct nft_dump *dump, uint32_t family, const char *table)
{
	return family == NFPROTO_INET && table != NULL &&
	    strcmp(table, dump->own) == 0;
}

static int
take_table(const struct nlmsghdr *message, struct nft_dump *dump)
{
	struct nftnl_table *table = nftnl_table_alloc();
	int rc = 0;

	if (table == NULL)
		return -ENOMEM;
	if (nftnl_table_nlmsg_parse(message, table) < 0)
		rc = -errno;
	else if (is_wanted(dump, nftnl_table_get_u32(table,
	    NFTNL_TABLE_FAMILY), nftnl_table_get_str(table, NFTNL_TABLE_NAME))) {
		nftnl_table_list_add_tail(table, dump->tables);
		return 0;
	}
	nftnl_table_free(table);
	return rc;
}

static int
take_chain(const struct nlmsghdr *message, struct nft_dump *dump)
{
	struct nftnl_chain *chain = nftnl_chain_alloc();
	int rc = 0;

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) < 0)
		rc = -errno;
	else if (nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME) != NULL &&
	    is_wanted(dump, nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY),
	    nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE))) {
		nftnl_chain_list_add_tail(chain, dump->chains);
		return 0;
	}
	nftnl_chain_free(chain);
	return rc;
}

static int
take_rule(const struct nlmsghdr *message, struct nft_dump *dump)
{
	struct nftnl_rule *rule = nftnl_rule_alloc();
	int rc = 0;

	if (rule == NULL)
		return -ENOMEM;
	if (nftnl_rule_nlmsg_parse(message, rule) < 0)
		rc = -errno;
	else if (nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN) != NULL &&
	    is_wanted(dump, nftnl_rule_get_u32(rule, NFTNL_RULE_FAMILY),
	    nftnl_rule_get_str(rule, NFTNL_RULE_TABLE))) {
		nftnl_rule_list_add_tail(rule, dump->rules);
		return 0;
	}
	nftnl_rule_free(rule);
	return rc;
}

static int
take_set(const struct nlmsghdr *message, struct nft_dump *dump)
{
	struct nftnl_set *set = nftnl_set_alloc();
	int rc = 0;

	if (set == NULL)
		return -ENOMEM;
	if (nftnl_set_nlmsg_parse(message, set) < 0)
		rc = -errno;
	else if (nftnl_set_get_str(set, NFTNL_SET_NAME) != NULL &&
	    is_wanted(dump, nftnl_set_get_u32(set, NFTNL_SET_FAMILY),
	    nftnl_set_get_str(set, NFTNL_SET_TABLE))) {
		nftnl_set_list_add_tail(set, dump->sets);
		return 0;
	}
	nftnl_set_free(set);
	return rc;
}

/* Without anything in it. */
static int
init(struct nft_dump *dump, const char *own)
{
	*dump = (struct nft_dump){ .own = own,
		.tables = nftnl_table_list_alloc(),
		.chains = nftnl_chain_list_alloc(),
		.sets = nftnl_set_list_alloc(),
		.rules = nftnl_rule_list_alloc() };
	return dump->tables != NULL && dump->chains != NULL &&
	    dump->sets != NULL && dump->rules != NULL ? 0 : -ENOMEM;
}

static int
take_object(const struct nlmsghdr *message, void *data)
{
	struct nft_dump *dump = data;

	switch (NFNL_MSG_TYPE(message->nlmsg_type)) {
	case NFT_MSG_NEWTABLE:
		return take_table(message, dump);
	case NFT_MSG_NEWCHAIN:
		return take_chain(message, dump);
	case NFT_MSG_NEWRULE:
		return take_rule(message, dump);
	case NFT_MSG_NEWSET:
		return take_set(message, dump);
	case NFT_MSG_NEWSETELEM:
		return dump->filled == NULL || nftnl_set_elems_nlmsg_parse(
		    message, dump->filled) >= 0 ? 0 : -errno;
	default:
		return 0;
	}
}

/* Asks for objects of one kind; attribute: with the table's name. */
static int
read_kind(struct netlink *netlink, uint16_t type, uint16_t attribute,
    struct nft_dump *dump)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer, type,
	    type == NFT_MSG_GETTABLE ? NLM_F_ACK : NLM_F_DUMP);

	mnl_attr_put_strz(message, attribute, netlink->table);
	return netlink_talk(netlink, message, take_object, dump);
}

int
nft_dump_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	struct nft_dump dump;
	int rc = -EINTR;

	*rules = NULL;
	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		rc = init(&dump, netlink->table);
		if (rc == 0)
			rc = read_kind(netlink, NFT_MSG_GETRULE,
			    NFTA_RULE_TABLE, &dump);
		if (rc == 0) {
			*rules = dump.rules;
			dump.rules = NULL;
		}
		nft_dump_free(&dump);
	}
	return rc;
}

static int
read_elements(struct netlink *netlink, struct nft_dump *dump)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSETELEM, NLM_F_DUMP);
	int rc;

	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, netlink->table);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET,
	    nftnl_set_get_str(dump->filled, NFTNL_SET_NAME));
	rc = netlink_talk(netlink, message, take_object, dump);
	return rc == -ENOENT ? -EINTR : rc;	/* it went meanwhile */
}

/* Ours that rules fill may be large, and nobody wants certain elements in them. */
static bool
is_read(const struct nftnl_set *set)
{
	return (nftnl_set_get_u32(set, NFTNL_SET_FLAGS) & NFT_SET_EVAL) == 0;
}

int
nft_dump_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
{
	struct nft_dump dump;
	int rc = init(&dump, netlink->table);

	*sets = NULL;
	if (rc == 0)
		rc = read_kind(netlink, NFT_MSG_GETSET, NFTA_SET_TABLE, &dump);
	if (rc == 0) {
		*sets = dump.sets;
		dump.sets = NULL;
	}
	nft_dump_free(&dump);
	return rc;
}

static int
read_sets(struct netlink *netlink, struct nft_dump *dump)
{
	struct nftnl_set_list_iter *sets;
	int rc = read_kind(netlink, NFT_MSG_GETSET, NFTA_SET_TABLE, dump);

	if (rc != 0)
		return rc;
	sets = nftnl_set_list_iter_create(dump->sets);
	if (sets == NULL)
		return -ENOMEM;
	while (rc == 0 &&
	    (dump->filled = nftnl_set_list_iter_next(sets)) != NULL)
		if (is_read(dump->filled))
			rc = read_elements(netlink, dump);
	nftnl_set_list_iter_destroy(sets);
	return rc;
}

/* Newer than the headers of Debian 12: Linux 6.16. */
#define SET_COUNT 20			/* NFTA_SET_COUNT */

struct set_count {
	uint32_t count;
	bool known;
};

static int
take_count(const struct nlattr *attribute, void *data)
{
	struct set_count *set = data;

	if (mnl_attr_get_type(attribute) == SET_COUNT &&
	    mnl_attr_validate(attribute, MNL_TYPE_U32) == 0) {
		set->count = ntohl(mnl_attr_get_u32(attribute));
		set->known = true;
	}
	return MNL_CB_OK;
}

static int
receive_count(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg), take_count,
	    data) < 0 ? -EINVAL : 0;
}

/* libnftnl would make an object of each. */
static int
count_element(const struct nlattr *attribute, void *data)
{
	uint32_t *count = data;

	(void)attribute;
	++*count;
	return MNL_CB_OK;
}

static int
count_list(const struct nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) != NFTA_SET_ELEM_LIST_ELEMENTS)
		return MNL_CB_OK;
	return mnl_attr_parse_nested(attribute, count_element, data);
}

static int
receive_uncounted(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct nfgenmsg), count_list,
	    data) < 0 ? -EINVAL : 0;
}

int
nft_dump_count_elements(struct netlink *netlink, const char *set, bool cheap,
    uint32_t *count)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSET, NLM_F_ACK);
	struct set_count known = { .known = false };
	int rc;

	mnl_attr_put_strz(message, NFTA_SET_TABLE, netlink->table);
	mnl_attr_put_strz(message, NFTA_SET_NAME, set);
	rc = netlink_talk(netlink, message, receive_count, &known);
	*count = known.count;
	if (rc != 0 || known.known)
		return rc;
	if (cheap)
		return -EOPNOTSUPP;
	message = netlink_request(netlink, buffer, NFT_MSG_GETSETELEM,
	    NLM_F_DUMP);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, netlink->table);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set);
	rc = netlink_talk(netlink, message, receive_uncounted, count);
	/* Torn: somebody changed the rules, or the set grew. */
	return rc == -EINTR ? 0 : rc;
}

/* One try; -EINTR when the rule set changed under it. */
static int
read_all(struct netlink *netlink, struct nft_dump *dump)
{
	uint32_t before = 0, after = 0;
	int rc = netlink_generation(netlink, &before);

	if (rc == 0)
		rc = read_kind(netlink, NFT_MSG_GETTABLE, NFTA_TABLE_NAME,
		    dump);
	if (rc == 0)
		rc = read_kind(netlink, NFT_MSG_GETCHAIN, NFTA_CHAIN_TABLE,
		    dump);
	if (rc == 0)
		rc = read_sets(netlink, dump);
	if (rc == 0)
		rc = read_kind(netlink, NFT_MSG_GETRULE, NFTA_RULE_TABLE, dump);
	if (rc == 0)
		rc = netlink_generation(netlink, &after);
	return rc == 0 && before != after ? -EINTR : rc;
}

int
nft_dump_read(struct netlink *netlink, struct nft_dump *dump)
{
	int rc = -EINTR;

	memset(dump, 0, sizeof(*dump));
	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		nft_dump_free(dump);
		rc = init(dump, netlink->table);
		if (rc == 0)
			rc = read_all(netlink, dump);
	}
	if (rc != 0)
		nft_dump_free(dump);
	return rc;
}

void
nft_dump_free(struct nft_dump *dump)
{
	if (dump->tables != NULL)
		nftnl_table_list_free(dump->tables);
	if (dump->chains != NULL)
		nftnl_chain_list_free(dump->chains);
	if (dump->sets != NULL)
		nftnl_set_list_free(dump->sets);
	if (dump->rules != NULL)
		nftnl_rule_list_free(dump->rules);
	memset(dump, 0, sizeof(*dump));
}

uint32_t
nft_dump_flags(const struct nft_dump *dump)
{
	struct nftnl_table_list_iter *tables =
	    nftnl_table_list_iter_create(dump->tables);
	const struct nftnl_table *table = tables != NULL ?
	    nftnl_table_list_iter_next(tables) : NULL;
	const uint32_t flags = table != NULL ?
	    nftnl_table_get_u32(table, NFTNL_TABLE_FLAGS) : 0;

	if (tables != NULL)
		nftnl_table_list_iter_destroy(tables);
	return flags;
}
