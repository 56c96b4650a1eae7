/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <net/if.h>
#include <stdlib.h>

#include "rules/firewall/internal.h"
#include "rules/netlink/netlink.h"

const char *
firewall_family(uint32_t family)
{
	switch (family) {
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_IPV6:
		return "ip6";
	default:
		return "inet";
	}
}

uint32_t
firewall_interface(const char *name)
{
	return name != NULL ? if_nametoindex(name) : 0;
}

bool
firewall_is_base(const struct firewall *firewall,
    const struct nftnl_chain *chain)
{
	return nftnl_chain_is_set(chain, NFTNL_CHAIN_HOOKNUM) &&
	    (nft_dump_flags(&firewall->dump,
	    nftnl_chain_get_u32(chain, NFTNL_CHAIN_FAMILY),
	    nftnl_chain_get_str(chain, NFTNL_CHAIN_TABLE)) &
	    NFT_TABLE_F_DORMANT) == 0;
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
		error = nft_dump_read(&netlink, true, &firewall->dump);
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
	nft_dump_free(&firewall->dump);
	free(firewall);
}
