/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The senders of TCP connections, as the queue knows them.  A queue thread sees
 * a connection's first packet (NFQA_UID, NFQA_GID, NFQA_MARK,
 * NFQA_IFINDEX_OUTDEV) and puts its sender into this table; the TCP thread
 * accepts the connection and takes the sender out.  All processes that are
 * forked from the supervisor share the table's memory, so the sender of a
 * connection that waits to be accepted is known after the worker was replaced.
 * There are no locks.  An entry that is not taken out is overwritten after some
 * 16,000 others, those of the user with most entries first.
 */
#ifndef NFDNS_NFQ_HANDOVER_SENDERS_H
#define NFDNS_NFQ_HANDOVER_SENDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Both ends of a connection to port 53.  An IPv4 address is in the first 4
 * octets.  Unused octets must be zero: they are hashed, too.
 */
struct sender_ends {
	uint8_t client[16], server[16];
	uint16_t client_port;		/* host order */
	uint16_t zero;
};

struct sender {
	uid_t uid;			/* (uid_t)-1: not known */
	gid_t gid;			/* (gid_t)-1: not known */
	uint32_t mark;			/* of the packet, without our bits */
	uint32_t device;		/* index of the interface by which the
					 * packet would leave, a guest's came;
					 * 0: not known */
	bool guest;			/* from behind this machine: it has no user */
};

#define SENDER_UNKNOWN	((struct sender){ (uid_t)-1, (gid_t)-1, 0, 0, false })

struct senders;

/* An empty table in memory that fork(2) shares.  NULL: out of memory. */
struct senders *senders_new(void);
/* NULL is allowed. */
void senders_free(struct senders *senders);

/* Adds the sender of a connection, or replaces it.  From any thread. */
void senders_put(struct senders *senders, const struct sender_ends *ends,
    const struct sender *sender);

/* Takes out a connection's sender; SENDER_UNKNOWN if it is not in the table. */
struct sender senders_take(struct senders *senders,
    const struct sender_ends *ends);

#endif
