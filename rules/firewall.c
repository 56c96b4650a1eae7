/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/firewall.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <libnftnl/chain.h>

#include "rules/netlink/netlink.h"
#include "rules/ruleset.h"

static const char *
family_text(uint32_t family)
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

static void
take_chain(struct firewall *firewall, const struct nftnl_chain *chain)
{
	const char *family = family_text(nftnl_chain_get_u32(chain,
	    NFTNL_CHAIN_FAMILY));
	const char *table = nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE);
	const char *name = nftnl_chain_get_str(chain, NFTNL_CHAIN_NAME);
	uint32_t hook;

	if (family == NULL || table == NULL || name == NULL ||
	    !nftnl_chain_is_set(chain, NFTNL_CHAIN_HOOKNUM) ||
	    nftnl_chain_get_u32(chain, NFTNL_CHAIN_POLICY) != NF_DROP ||
	    strcmp(table, RULES_TABLE) == 0)
		return;
	hook = nftnl_chain_get_u32(chain, NFTNL_CHAIN_HOOKNUM);
	if (hook != NF_INET_LOCAL_IN && hook != NF_INET_LOCAL_OUT)
		return;
	if (firewall->count < FIREWALL_CHAINS)
		(void)snprintf(firewall->chains[firewall->count],
		    FIREWALL_NAME, "%s %.30s %.30s", family, table, name);
	firewall->count++;
}

static int
receive_chain(const struct nlmsghdr *message, void *data)
{
	struct nftnl_chain *chain = nftnl_chain_alloc();
	int error = 0;

	if (chain == NULL)
		return -ENOMEM;
	if (nftnl_chain_nlmsg_parse(message, chain) < 0)
		error = -errno;
	else
		take_chain(data, chain);
	nftnl_chain_free(chain);
	return error;
}

int
firewall_read(struct firewall *firewall)
{
	_Alignas(struct nlmsghdr) char buffer[NETLINK_REQUEST_MAX];
	struct nlmsghdr *message;
	struct nfgenmsg *head;
	struct netlink netlink;
	int error = netlink_open(&netlink, RULES_TABLE);

	firewall->count = 0;
	if (error < 0)
		return error;
	message = netlink_request(&netlink, buffer, NFT_MSG_GETCHAIN,
	    NLM_F_DUMP);
	head = mnl_nlmsg_get_payload(message);
	head->nfgen_family = AF_UNSPEC;		/* tables of all families */
	error = netlink_talk(&netlink, message, receive_chain, firewall);
	netlink_close(&netlink);
	return error;
}
