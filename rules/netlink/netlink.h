/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One netlink socket to nf_tables, and the reading of what is there. */
#ifndef NFDNS_RULES_NETLINK_NETLINK_H
#define NFDNS_RULES_NETLINK_NETLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>

struct netlink {
	struct mnl_socket *socket;	/* owned */
	uint32_t sequence;		/* of the last message sent */
};

/*
 * Opens the socket and asks whether nf_tables is there and may be used.
 * 0, -EPROTONOSUPPORT, -EPERM or another negative errno.
 */
int netlink_open(struct netlink *netlink) __attribute__((warn_unused_result));

/*
 * Goes on with a socket of netlink_open() that another process left: takes fd
 * over, and throws away the answers that were meant for that one.
 * 0 or a negative errno, with fd closed.
 */
int netlink_adopt(struct netlink *netlink, int fd)
    __attribute__((warn_unused_result));
void netlink_close(struct netlink *netlink);

/* The whole of table inet nfdns as it was at one moment. */
struct snapshot {
	struct nftnl_table *table;
	struct nftnl_chain_list *chains;
	struct nftnl_set_list *sets;	/* those of addresses with elements */
	struct nftnl_rule_list *rules;	/* of all chains, in order */
};

/*
 * Reads it; again if somebody changed the rules meanwhile.  Returns 0, -ENOENT
 * when there is no such table, -EINTR when it changes all the time, or another
 * negative errno.
 */
int snapshot_read(struct netlink *netlink, struct snapshot *snapshot)
    __attribute__((warn_unused_result));
void snapshot_free(struct snapshot *snapshot);

/* Only the sets, without their elements.  The caller's to free. */
int netlink_read_sets(struct netlink *netlink, struct nftnl_set_list **sets)
    __attribute__((warn_unused_result));

/*
 * The number of a set's elements; with "cheap" only if the kernel has it at
 * hand, else -EOPNOTSUPP.
 */
int netlink_count_elements(struct netlink *netlink, const char *set, bool cheap,
    uint32_t *count) __attribute__((warn_unused_result));

/* Only the rules, which may be none.  The caller's to free. */
int netlink_read_rules(struct netlink *netlink, struct nftnl_rule_list **rules)
    __attribute__((warn_unused_result));

#endif
