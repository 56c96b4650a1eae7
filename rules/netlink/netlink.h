/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One netlink socket to nf_tables, for the tables of one name.  This room
 * knows messages and objects of the kernel; it does not know our rules.
 */
#ifndef NFDNS_RULES_NETLINK_NETLINK_H
#define NFDNS_RULES_NETLINK_NETLINK_H

#include <stddef.h>
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

/*
 * A transaction: nf_tables applies all of its messages or none.  The first
 * error while building sticks, and batch_send() returns it: the steps between
 * need no checks.
 */

/*
 * What one message is about, so that the caller can name it if the kernel
 * refuses it.  The caller numbers the subjects, from BATCH_FRAME + 1 on.
 */
#define BATCH_FRAME 0		/* begin or end of the transaction itself */

struct batch_part {
	unsigned int subject;
	const void *item;		/* of the caller; borrowed */
};

struct batch {
	char *buffer;
	size_t used, room;
	struct batch_part *parts;	/* one a message, frame included */
	size_t count, parts_room;
	uint8_t family;			/* NFPROTO_* of the messages to come; inet at first */
	uint32_t first;			/* sequence number of parts[0] */
	int error;
};

/* Starts a transaction; it continues the sequence numbers of netlink. */
void batch_begin(struct batch *batch, const struct netlink *netlink);
void batch_free(struct batch *batch);

/*
 * Adds a message, which the caller fills by libnftnl or libmnl, to at most
 * BATCH_MESSAGE_MAX octets with its header, and ends by batch_end_message().
 * NULL after an error.
 */
#define BATCH_MESSAGE_MAX ((size_t)65536)
struct nlmsghdr *batch_message(struct batch *batch, uint16_t type,
    uint16_t flags, struct batch_part part);
void batch_end_message(struct batch *batch, const struct nlmsghdr *message);

/* Makes the batch fail with this negative errno, if nothing failed before. */
void batch_fail(struct batch *batch, int error);

/*
 * Sends the transaction and reads the kernel's answers.  0, or a negative errno
 * with nothing changed; *failed is then the part of the first message that the
 * kernel refused, or BATCH_FRAME.
 */
int batch_send(struct batch *batch, struct netlink *netlink,
    struct batch_part *failed) __attribute__((warn_unused_result));

#endif
