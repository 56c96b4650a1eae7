/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the queue knows about who opens a TCP connection.  The queue threads see
 * the first packet (NFQA_UID, NFQA_GID, NFQA_MARK, NFQA_IFINDEX_OUTDEV), the
 * TCP thread accepts the connection.  The table is memory that all processes
 * forked from the supervisor share, so a connection that waits to be accepted
 * keeps its sender when the worker is replaced.  Without locks; an entry that
 * is not taken is overwritten after some 16,000 others.
 */
#ifndef NFDNS_NFQ_HANDOVER_SENDERS_H
#define NFDNS_NFQ_HANDOVER_SENDERS_H

#include <stdint.h>
#include <sys/types.h>

/* Both ends; IPv4 stands in the first 4 octets.  What is unused is zero. */
struct sender_ends {
	uint8_t client[16], server[16];
	uint16_t client_port;
	uint16_t zero;
};

struct sender {
	uid_t uid;			/* (uid_t)-1: not known */
	gid_t gid;			/* (gid_t)-1: not known */
	uint32_t mark;			/* of the packet, without our bits */
	uint32_t device;		/* interface index; 0: not known */
};

#define SENDER_UNKNOWN	((struct sender){ (uid_t)-1, (gid_t)-1, 0, 0 })

struct senders;

/* NULL for lack of memory. */
struct senders *senders_new(void);
void senders_free(struct senders *senders);

void senders_put(struct senders *senders, const struct sender_ends *ends,
    const struct sender *sender);

/* Takes the entry out; SENDER_UNKNOWN if there is none. */
struct sender senders_take(struct senders *senders,
    const struct sender_ends *ends);

#endif
