/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads tables and their parts from the kernel: ours, or all others. */
#ifndef NFDNS_RULES_NETLINK_NFT_DUMP_H
#define NFDNS_RULES_NETLINK_NFT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libnftnl/chain.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>

#include "rules/netlink/netlink.h"

/* Tables as they were at one moment; owns its parts. */
struct nft_dump {
	const char *own;		/* our table's name, of family inet */
	bool others;			/* all tables but that, in families inet, ip
					 * and ip6; what cannot be read is left out */
	struct nftnl_table_list *tables;
	struct nftnl_chain_list *chains;
	struct nftnl_set_list *sets;	/* sets of addresses with elements */
	struct nftnl_rule_list *rules;	/* of all chains, in order */
	struct nftnl_set *filled;	/* whose elements come; of sets */
};

/*
 * Reads our table, or all others, and again if another program changed the rules
 * meanwhile.  Returns 0, -ENOENT when there is no such table, -EINTR when it
 * changes all the time, or another negative errno.
 */
int nft_dump_read(struct netlink *netlink, bool others, struct nft_dump *dump)
    __attribute__((warn_unused_result));
void nft_dump_free(struct nft_dump *dump);

/* NFT_TABLE_F_ of a table; 0: none, or no such table. */
uint32_t nft_dump_flags(const struct nft_dump *dump, uint32_t family,
    const char *name);

/* Without anything in it.  0, or -ENOMEM: free it all the same. */
int nft_dump_init(struct nft_dump *dump, const char *own, bool others)
    __attribute__((warn_unused_result));

/* Takes one object, a netlink_receive_fn for a struct nft_dump. */
int nft_dump_take(const struct nlmsghdr *message, void *dump)
    __attribute__((warn_unused_result));

/* Only the sets, without their elements.  The caller frees them. */
int nft_dump_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
    __attribute__((warn_unused_result));

/*
 * The number of a set's elements; with "cheap" only if the kernel reports it,
 * else -EOPNOTSUPP.
 */
int nft_dump_count_elements(struct netlink *netlink, const char *set,
    bool cheap, uint32_t *count) __attribute__((warn_unused_result));

/* Only the rules, which may be none.  The caller frees them. */
int nft_dump_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
    __attribute__((warn_unused_result));

#endif
