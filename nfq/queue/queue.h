/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The netfilter queue's socket (nfnetlink_queue): set up once, read in batches,
 * answered in batches.
 *
 * This room talks to the kernel's queue.  It parses no DNS and decides nothing.
 */
#ifndef NFDNS_NFQ_QUEUE_QUEUE_H
#define NFDNS_NFQ_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/queue/message.h"

#define QUEUE_BATCH	64	/* packets a call */
#define QUEUE_REPLY_MAX	8192	/* octets of a reply */

/*
 * Opens a netlink socket and binds it to queue "number": BIND, PARAMS, MAXLEN
 * and the flags in one message, so that the queue is never bound without
 * parameters (nfnetlink_queue.c then drops everything).  The queue is the
 * socket's until its last copy is closed.  The socket is blocking and talks to
 * the kernel only.
 * Returns the fd, or a negative errno: -EBUSY when another socket has the
 * queue, -EPERM without CAP_NET_ADMIN over the network namespace,
 * -EPROTONOSUPPORT when the kernel has no netfilter queues.
 */
int queue_open(uint16_t number, uint32_t maxlen, bool fail_open)
    __attribute__((warn_unused_result));

/*
 * Takes over the socket of a dead daemon, however full it is: sets the queue up
 * as queue_open() does, and puts back all packets that the daemon had read but
 * given no verdict.  0; -ETIMEDOUT if the kernel did not answer, and then the
 * queue is usable if it is the socket's; or another negative errno.  fd stays
 * the caller's.
 */
int queue_adopt(int fd, uint16_t number, uint32_t maxlen, bool fail_open)
    __attribute__((warn_unused_result));

/*
 * Whether the queue passes packets that it has no room for, from now on.  While
 * others read; what the kernel answers they read.  0 or a negative errno.
 */
int queue_set_overload(int fd, uint16_t number, bool fail_open)
    __attribute__((warn_unused_result));

/* What becomes of packets that a dead reader had read. */
enum queue_fate {
	QUEUE_REPEAT,		/* they are put back: NF_REPEAT */
	QUEUE_PASS,
	QUEUE_DROP,
};

/*
 * Gives a verdict to the packets that a dead reader had read, up to the first
 * one that still waits in the socket.  last_id is the newest that the dead
 * reader is known to have read, 0 if it read none.  No thread may read
 * meanwhile.  Packets that are put back come again with new ids.  0 or a
 * negative errno.
 */
int queue_recover(int fd, uint16_t number, uint32_t last_id,
    enum queue_fate fate)
    __attribute__((warn_unused_result));

/*
 * How full the socket's receive buffer is, and how many packets the kernel
 * dropped because it was full, modulo 2^32.  0 or a negative errno.
 */
int queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
    __attribute__((warn_unused_result));

/*
 * About how many packets so many octets of a receive buffer are.  A queued message
 * with a question takes 832 (skb->truesize): measured.
 */
#define QUEUE_PACKET_OCTETS 832

static inline uint32_t
queue_packets_of(uint32_t octets)
{
	return octets / QUEUE_PACKET_OCTETS + (octets % QUEUE_PACKET_OCTETS > 0);
}

struct queue_reader;			/* of one thread; owns no fd */

/*
 * 0 and *reader, or a negative errno.  Packets are read into "received", which
 * stays the caller's and is aligned to 64 octets.
 */
int queue_reader_new(struct queue_reader **reader, int fd, uint16_t number,
    queue_buffer received[static QUEUE_BATCH])
    __attribute__((warn_unused_result));
void queue_reader_free(struct queue_reader *reader);

/*
 * Waits for packets and takes up to QUEUE_BATCH.  Returns their number, 0 if
 * only control messages came, -EINTR, -ENOBUFS (overrun: read on), -EPERM (the
 * kernel refused our verdicts: CAP_NET_ADMIN is missing) or another negative
 * errno.  Views live until the next call.  Every packet gets one verdict.
 */
int queue_receive(struct queue_reader *reader,
    struct queue_packet packets[static QUEUE_BATCH]);

/* The same without waiting: -EAGAIN if there is nothing. */
int queue_receive_now(struct queue_reader *reader,
    struct queue_packet packets[static QUEUE_BATCH]);

/* Missing packet ids: the kernel dropped these packets before the socket. */
uint64_t queue_gaps(const struct queue_reader *reader);
/* Verdicts that the kernel refused; ENOENT (the packet is gone) is normal. */
uint64_t queue_verdict_errors(const struct queue_reader *reader);
/* The newest packet id read; 0: none yet. */
uint32_t queue_last_id(const struct queue_reader *reader);

/*
 * Collect the verdicts of one batch for queue_send().  queue_reply() copies the
 * reply, at most QUEUE_REPLY_MAX octets, and gives it the mark.  queue_mark()
 * lets the packet pass with that mark, which routes it again.
 */
void queue_pass(struct queue_reader *reader, uint32_t id);
void queue_mark(struct queue_reader *reader, uint32_t id, uint32_t mark);
void queue_drop(struct queue_reader *reader, uint32_t id);
/*
 * Lets this packet pass, and no other: for a reader that keeps packets, since
 * queue_pass() takes all up to the id.  It calls that only while it keeps none.
 */
void queue_release_one(struct queue_reader *reader, uint32_t id);
void queue_reply(struct queue_reader *reader, uint32_t id, uint32_t mark,
    const uint8_t *packet, size_t length);

/*
 * Sends the verdicts: the single ones first, then one batch ACCEPT for all
 * packets that pass (VERDICT_BATCH takes every id up to its own).  Call it once
 * for each batch, after every packet of it has a verdict.  0, or a negative
 * errno: from the first error on nothing more of the batch is sent, and
 * queue_recover() queues these packets again.
 */
int queue_send(struct queue_reader *reader) __attribute__((warn_unused_result));

#endif
