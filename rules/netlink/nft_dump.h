/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads our table and its parts from the kernel. */
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

/* The table as it was at one moment; owns its parts. */
struct nft_dump {
	const char *own;		/* its name; family inet */
	struct nftnl_table_list *tables;
	struct nftnl_chain_list *chains;
	struct nftnl_set_list *sets;	/* sets of addresses with elements */
	struct nftnl_rule_list *rules;	/* of all chains, in order */
	struct nftnl_set *filled;	/* whose elements come; of sets */
};

/*
 * Reads it, and again if another program changed the rules meanwhile.  Returns 0,
 * -ENOENT when there is no such table, -EINTR when it changes all the time, or
 * another negative errno.
 */
int nft_dump_read(struct netlink *netlink, struct nft_dump *dump)
    __attribute__((warn_unused_result));
void nft_dump_free(struct nft_dump *dump);

/* Its NFT_TABLE_F_. */
uint32_t nft_dump_flags(const struct nft_dump *dump);

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
