/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A transaction: messages that nf_tables takes all together or not at all.
 * Built with a sticky error, which batch_send() returns: nothing need be
 * checked on the way.
 */
#ifndef NFDNS_RULES_BATCH_H
#define NFDNS_RULES_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include "rules/netlink/netlink.h"
#include "rules/ruleset.h"

/* What a message is about, so that a failure can be told in words. */
enum batch_subject {
	BATCH_FRAME,		/* the begin or end of the transaction itself */
	BATCH_STALE,		/* taking out a table that may be left over */
	BATCH_TABLE,		/* the table */
	BATCH_CHAIN,
	BATCH_CLEAR,		/* emptying what is to be there already */
	BATCH_SET,
	BATCH_STREAMS,		/* a set of TCP connections */
	BATCH_USERS,		/* the set of users */
	BATCH_RULE,
};

struct batch_part {
	enum batch_subject subject;
	const struct rule *rule;	/* of a RULE; borrowed */
};

struct batch {
	char *buffer;
	size_t used, room;
	struct batch_part *parts;	/* one a message, frame included */
	size_t count, parts_room;
	uint32_t first;			/* sequence number of parts[0] */
	int error;
};

/* Starts one; netlink's sequence numbers go on in it. */
void batch_begin(struct batch *batch, const struct netlink *netlink);
void batch_free(struct batch *batch);

/*
 * A new message to fill by libnftnl or libmnl, at most BATCH_MESSAGE_MAX long
 * with its header, and to end by batch_end_message().  NULL after an error.
 */
#define BATCH_MESSAGE_MAX ((size_t)65536)
struct nlmsghdr *batch_message(struct batch *batch, uint16_t type,
    uint16_t flags, struct batch_part part);
void batch_end_message(struct batch *batch, const struct nlmsghdr *message);

/* Makes the batch fail: a value for it could not be had. */
void batch_fail(struct batch *batch, int error);

/*
 * Sends it and waits for the outcome.  0, or a negative errno with nothing
 * changed; *failed is then what the first message that the kernel refused was
 * about (FRAME if it is none of them).
 */
int batch_send(struct batch *batch, struct netlink *netlink,
    struct batch_part *failed) __attribute__((warn_unused_result));

#endif
