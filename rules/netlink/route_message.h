/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of rtnetlink that routes.c needs, and nothing more. */
#ifndef NFDNS_RULES_NETLINK_ROUTE_MESSAGE_H
#define NFDNS_RULES_NETLINK_ROUTE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

struct route_socket {
	struct mnl_socket *socket;	/* owned; NULL: closed */
	uint32_t sequence;
};

/* 0 or a negative errno. */
int route_socket_open(struct route_socket *socket)
    __attribute__((warn_unused_result));
void route_socket_close(struct route_socket *socket);

/* One routing rule, as much of it as concerns us. */
struct route_rule {
	int family;
	uint32_t table;
	uint32_t priority;
	uint32_t mark, mask;
	uint8_t protocol;
};

/* One route; of other programs' only table and protocol mean anything. */
struct route_entry {
	int family;
	uint32_t table;
	uint32_t device;
	uint8_t protocol;
};

/*
 * 0, 1 when there was nothing to do (what is to be added is there, what is to
 * be taken out is not), or a negative errno.
 */
int route_rule_change(struct route_socket *socket, bool add,
    const struct route_rule *rule) __attribute__((warn_unused_result));
int route_entry_change(struct route_socket *socket, bool add,
    const struct route_entry *entry) __attribute__((warn_unused_result));

/*
 * Fills an array with the first "room" of what there is; *count is what there
 * is in all.  0 or a negative errno; a version of IP that is not there has
 * none.
 */
int route_rules_list(struct route_socket *socket, int family,
    struct route_rule *rules, size_t room, size_t *count)
    __attribute__((warn_unused_result));
int route_entries_list(struct route_socket *socket, int family,
    uint32_t table, struct route_entry *entries, size_t room, size_t *count)
    __attribute__((warn_unused_result));

#endif
