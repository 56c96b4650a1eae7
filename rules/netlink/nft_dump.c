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

/* What is being read: one of the two. */
struct nft_dump {
	const char *table;
	struct nftnl_rule_list *rules;
	struct nftnl_set_list *sets;
};

/* Older kernels send the objects of all tables, whatever was asked for. */
static bool
is_wanted(const struct nft_dump *dump, uint32_t family, const char *table)
{
	return family == NFPROTO_INET && table != NULL &&
	    strcmp(table, dump->table) == 0;
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

static int
take_object(const struct nlmsghdr *message, void *data)
{
	switch (NFNL_MSG_TYPE(message->nlmsg_type)) {
	case NFT_MSG_NEWRULE:
		return take_rule(message, data);
	case NFT_MSG_NEWSET:
		return take_set(message, data);
	default:
		return 0;
	}
}

/* attribute: the one with the table's name. */
static int
read_kind(struct netlink *netlink, uint16_t type, uint16_t attribute,
    struct nft_dump *dump)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message = netlink_request(netlink, buffer, type,
	    NLM_F_DUMP);

	mnl_attr_put_strz(message, attribute, netlink->table);
	return netlink_talk(netlink, message, take_object, dump);
}

int
nft_dump_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
{
	struct nft_dump dump = { .table = netlink->table };
	int rc = -EINTR;

	for (int tries = 0; rc == -EINTR && tries < READ_TRIES; tries++) {
		dump.rules = nftnl_rule_list_alloc();
		rc = dump.rules == NULL ? -ENOMEM : read_kind(netlink,
		    NFT_MSG_GETRULE, NFTA_RULE_TABLE, &dump);
		if (rc != 0 && dump.rules != NULL)
			nftnl_rule_list_free(dump.rules);
	}
	*rules = rc == 0 ? dump.rules : NULL;
	return rc;
}

int
nft_dump_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
{
	struct nft_dump dump = { .table = netlink->table,
		.sets = nftnl_set_list_alloc() };
	const int rc = dump.sets == NULL ? -ENOMEM : read_kind(netlink,
	    NFT_MSG_GETSET, NFTA_SET_TABLE, &dump);

	if (rc != 0 && dump.sets != NULL)
		nftnl_set_list_free(dump.sets);
	*sets = rc == 0 ? dump.sets : NULL;
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
