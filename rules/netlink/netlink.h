/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One netlink socket to nf_tables, for the tables of one name.  This room
 * knows messages and objects of the kernel; it does not know our rules.
 */
#ifndef NFDNS_RULES_NETLINK_NETLINK_H
#define NFDNS_RULES_NETLINK_NETLINK_H

#include <stdint.h>

#include <libmnl/libmnl.h>

struct netlink {
	struct mnl_socket *socket;	/* owned */
	const char *table;		/* its name; static text */
	uint32_t sequence;		/* of the last message sent */
};

/*
 * Opens the socket and asks whether nf_tables is there and may be used.
 * 0, -EPROTONOSUPPORT, -EPERM or another negative errno.
 */
int netlink_open(struct netlink *netlink, const char *table)
    __attribute__((warn_unused_result));

/*
 * Continues with a socket of netlink_open() that another process left: takes fd
 * over, and discards the answers meant for that process.
 * 0, or a negative errno with fd closed.
 */
int netlink_adopt(struct netlink *netlink, const char *table, int fd)
    __attribute__((warn_unused_result));
void netlink_close(struct netlink *netlink);

/* How often a read starts again because another program changed the rules. */
#define NETLINK_READ_TRIES 10

/* NFTA_SET_COUNT of Linux 6.16: how many elements a set has; Debian 12 lacks it. */
#define NETLINK_SET_COUNT 20

/* Enough for a request with two names. */
#define NETLINK_REQUEST_MAX 512

/*
 * Starts a request (NFT_MSG_*, NLM_F_*) in buffer, NETLINK_REQUEST_MAX octets
 * aligned as struct nlmsghdr.  Returns the message, which lies in buffer.
 */
struct nlmsghdr *netlink_request(struct netlink *netlink, char *buffer,
    uint16_t type, uint16_t flags);

/* The same of another family than inet: NFPROTO_*. */
struct nlmsghdr *netlink_request_of(struct netlink *netlink, uint8_t family,
    char *buffer, uint16_t type, uint16_t flags);

/* Takes one message of an answer; returns 0 or a negative errno. */
typedef int (*netlink_receive_fn)(const struct nlmsghdr *message, void *data);

/*
 * Sends the request and receives its whole answer.  0; -EINTR if another
 * program changed the rules meanwhile (NLM_F_DUMP_INTR); or a negative errno.
 */
int netlink_talk(struct netlink *netlink, const struct nlmsghdr *message,
    netlink_receive_fn receive, void *data) __attribute__((warn_unused_result));

/*
 * The number of the last change of the kernel's rule set; every change by any
 * program increments it.  0 or a negative errno.
 */
int netlink_generation(struct netlink *netlink, uint32_t *generation)
    __attribute__((warn_unused_result));

#endif
