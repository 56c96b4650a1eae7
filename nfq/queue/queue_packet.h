/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet as the netfilter queue delivers it. */
#ifndef NFDNS_NFQ_QUEUE_QUEUE_PACKET_H
#define NFDNS_NFQ_QUEUE_QUEUE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define QUEUE_COPY	8192	/* octets of a packet; longer ones pass */

/*
 * A packet's message: QUEUE_COPY and the attributes before it, some 250 octets.
 * An odd number of cache lines, so that the first lines of all buffers are in
 * different sets of the cache.
 */
#define QUEUE_RECEIVE_SIZE	(QUEUE_COPY + 9 * 64)
typedef uint8_t queue_buffer[QUEUE_RECEIVE_SIZE];

/*
 * One packet of a batch; borrows from the receive buffers.  If the kernel gave
 * no octets, octets is NULL, length 0 and whole_length above 0.
 */
struct queue_packet {
	uint32_t id;			/* host order */
	uid_t uid;			/* (uid_t)-1 when the kernel named none */
	gid_t gid;
	uint32_t mark;
	uint32_t device;		/* index of the outgoing interface, of a guest
					 * the incoming one; 0: not known */
	bool guest;			/* it came from behind this machine */
	const uint8_t *octets;		/* from the IP header on */
	size_t length;
	size_t whole_length;		/* before the copy range cut it */
};

#endif
