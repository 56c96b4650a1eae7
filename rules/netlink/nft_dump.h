/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads parts of a table from the kernel. */
#ifndef NFDNS_RULES_NETLINK_NFT_DUMP_H
#define NFDNS_RULES_NETLINK_NFT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include <libnftnl/rule.h>
#include <libnftnl/set.h>

#include "rules/netlink/netlink.h"

/* The sets, without their elements.  The caller frees them. */
int nft_dump_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
    __attribute__((warn_unused_result));

/*
 * The number of a set's elements; with "cheap" only if the kernel reports it,
 * else -EOPNOTSUPP.
 */
int nft_dump_count_elements(struct netlink *netlink, const char *set,
    bool cheap, uint32_t *count) __attribute__((warn_unused_result));

/*
 * The rules of all chains, in order; maybe none.  Reads again if another program
 * changed them meanwhile: -EINTR if they change all the time.  The caller frees them.
 */
int nft_dump_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
    __attribute__((warn_unused_result));

#endif
