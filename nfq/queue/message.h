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

#include "nfq/queue/queue_packet.h"

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
