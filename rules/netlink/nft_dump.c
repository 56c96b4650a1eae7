/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdbool.h>
#include <string.h>

#include "rules/netlink/nft_dump.h"

/* How often a read starts again because another program changed the rules. */
#define READ_TRIES	10

static int
receive_table(const struct nlmsghdr *message, void *data)
{
	return nftnl_table_nlmsg_parse(message, data) < 0 ? -errno : 0;
}

static int
read_table(struct netlink *netlink, struct nft_dump *dump)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETTABLE, NLM_F_ACK);

	dump->table = nftnl_table_alloc();
	if (dump->table == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_TABLE_NAME, netlink->table);
	return netlink_talk(netlink, message, receive_table, dump->table);
}

/* Older kernels send the chains and rules of all tables of the family. */
struct object_list {
	const char *table;			/* of which objects are kept */
	struct nftnl_chain_list *chains;	/* to which they are added */
	struct nftnl_rule_list *rules;
};

static int
receive_chain(const struct nlmsghdr *message, void *data)
{
	const struct object_list *list = data;
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) < 0) {
		nftnl_chain_free(chain);
		return -errno;
	}
	const char *table = nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE);
	if (table != NULL && strcmp(table, list->table) == 0)
		nftnl_chain_list_add_tail(chain, list->chains);
	else
		nftnl_chain_free(chain);
	return 0;
}

static int
read_chains(struct netlink *netlink, struct nft_dump *dump)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];

	dump->chains = nftnl_chain_list_alloc();
	if (dump->chains == NULL)
		return -ENOMEM;
	return netlink_talk(netlink, netlink_request(netlink, buffer,
	    NFT_MSG_GETCHAIN, NLM_F_DUMP), receive_chain, &(struct object_list){
	    .table = netlink->table, .chains = dump->chains });
}

static int
receive_rule(const struct nlmsghdr *message, void *data)
{
	const struct object_list *list = data;
	struct nftnl_rule *rule = nftnl_rule_alloc();

	if (rule == NULL)
		return -ENOMEM;
	if (nftnl_rule_nlmsg_parse(message, rule) < 0) {
		nftnl_rule_free(rule);
		return -errno;
	}
	const char *table = nftnl_rule_get_str(rule, NFTNL_RULE_TABLE);
	if (table != NULL && strcmp(table, list->table) == 0)
		nftnl_rule_list_add_tail(rule, list->rules);
	else
		nftnl_rule_free(rule);
	return 0;
}

static int
read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETRULE, NLM_F_DUMP);

	*rules = nftnl_rule_list_alloc();
	if (*rules == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_RULE_TABLE, netlink->table);
	return netlink_talk(netlink, message, receive_rule,
	    &(struct object_list){ .table = netlink->table, .rules = *rules });
}

int
nft_dump_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	int rc = -EINTR;

	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		rc = read_rules(netlink, rules);
		if (rc != 0 && *rules != NULL) {
			nftnl_rule_list_free(*rules);
			*rules = NULL;
		}
	}
	return rc;
}

static int
receive_set(const struct nlmsghdr *message, void *data)
{
	struct nftnl_set *set = nftnl_set_alloc();

	if (set == NULL)
		return -ENOMEM;
	if (nftnl_set_nlmsg_parse(message, set) < 0) {
		nftnl_set_free(set);
		return -errno;
	}
	nftnl_set_list_add_tail(set, data);
	return 0;
}

static int
receive_elements(const struct nlmsghdr *message, void *data)
{
	return nftnl_set_elems_nlmsg_parse(message, data) < 0 ? -errno : 0;
}

static int
read_elements(struct netlink *netlink, struct nftnl_set *set)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSETELEM, NLM_F_DUMP);

	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, netlink->table);
	mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET,
	    nftnl_set_get_str(set, NFTNL_SET_NAME));
	return netlink_talk(netlink, message, receive_elements, set);
}

/* Such a set may be large, and nobody wants certain elements in it. */
static bool
is_filled_by_rules(const struct nftnl_set *set)
{
	return (nftnl_set_get_u32(set, NFTNL_SET_FLAGS) & NFT_SET_EVAL) != 0;
}

int
nft_dump_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer,
	    NFT_MSG_GETSET, NLM_F_DUMP);
	int rc;

	*sets = nftnl_set_list_alloc();
	if (*sets == NULL)
		return -ENOMEM;
	mnl_attr_put_strz(message, NFTA_SET_TABLE, netlink->table);
	rc = netlink_talk(netlink, message, receive_set, *sets);
	if (rc != 0) {
		nftnl_set_list_free(*sets);
		*sets = NULL;
	}
	return rc;
}

static int
read_sets(struct netlink *netlink, struct nft_dump *dump)
{
	struct nftnl_set_list_iter *sets;
	struct nftnl_set *set;
	int rc = nft_dump_read_sets(netlink, &dump->sets);

	if (rc != 0)
		return rc;
	sets = nftnl_set_list_iter_create(dump->sets);
	if (sets == NULL)
		return -ENOMEM;
	while (rc == 0 && (set = nftnl_set_list_iter_next(sets)) != NULL)
		if (!is_filled_by_rules(set))
			rc = read_elements(netlink, set);
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
		rc = read_table(netlink, dump);
	if (rc == 0)
		rc = read_chains(netlink, dump);
	if (rc == 0)
		rc = read_sets(netlink, dump);
	if (rc == 0)
		rc = read_rules(netlink, &dump->rules);
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
		rc = read_all(netlink, dump);
	}
	if (rc != 0)
		nft_dump_free(dump);
	return rc;
}

void
nft_dump_free(struct nft_dump *dump)
{
	if (dump->table != NULL)
		nftnl_table_free(dump->table);
	if (dump->chains != NULL)
		nftnl_chain_list_free(dump->chains);
	if (dump->sets != NULL)
		nftnl_set_list_free(dump->sets);
	if (dump->rules != NULL)
		nftnl_rule_list_free(dump->rules);
	memset(dump, 0, sizeof(*dump));
}
