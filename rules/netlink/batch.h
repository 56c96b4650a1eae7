/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A transaction: nf_tables applies all of its messages or none.  The first
 * error while building sticks, and batch_send() returns it: the steps between
 * need no checks.
 */
#ifndef NFDNS_RULES_NETLINK_BATCH_H
#define NFDNS_RULES_NETLINK_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include "rules/netlink/netlink.h"

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
