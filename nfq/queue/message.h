/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue's netlink messages, for the files of this room only.  They come
 * from the kernel, but no length in them is trusted beyond the octets received.
 */
#ifndef NFDNS_NFQ_QUEUE_MESSAGE_H
#define NFDNS_NFQ_QUEUE_MESSAGE_H

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A packet as the netfilter queue delivers it. */

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

/* One send: a batch of usual answers fits, larger ones take more sends. */
#define QUEUE_SEND_SIZE	((size_t)64 << 10)

/* A message to the kernel that has no payload. */
#define QUEUE_SMALL_MESSAGE	128

/* nlmsg_type of a packet. */
#define QUEUE_TYPE_PACKET	(NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET)

/*
 * Takes the next message of a received datagram, of which *left octets are
 * left; *length is the message's, as far as it was received.  NULL at the end.
 */
const struct nlmsghdr *queue_message_next(const uint8_t **octets, size_t *left,
    size_t *length);

/* The error in an NLMSG_ERROR: 0 or a negative errno. */
int queue_message_error(const struct nlmsghdr *nlh, size_t length);

/* False if the message names no packet, so that no verdict can be given. */
bool queue_message_packet(const struct nlmsghdr *nlh, size_t length,
    struct queue_packet *packet);

/*
 * Starts a verdict in buf, which is aligned as netlink's messages are; type is
 * NFQNL_MSG_VERDICT or _VERDICT_BATCH.  Its nlmsg_len grows with what is added.
 */
struct nlmsghdr *queue_message_verdict(uint8_t *buf, int type, uint16_t number,
    uint32_t id, int verdict);
void queue_message_add_mark(struct nlmsghdr *verdict, uint32_t mark);
/* length goes into an attribute: QUEUE_REPLY_MAX is well below that. */
void queue_message_add_packet(struct nlmsghdr *verdict, const uint8_t *octets,
    size_t length);

/* 0 or a negative errno. */
int queue_message_send(int fd, const void *octets, size_t length)
    __attribute__((warn_unused_result));

#endif
