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

#include "nfq/queue/queue_packet.h"

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
 * Gives a verdict to the packets that a dead reader had read: they are put back
 * (NF_REPEAT), or pass if "accept", up to the first one that still waits in the
 * socket.  last_id is the newest that the dead reader is known to have read, 0
 * if it read none.  No thread may read meanwhile.  Packets that are put back
 * come again with new ids.  0 or a negative errno.
 */
int queue_recover(int fd, uint16_t number, uint32_t last_id, bool accept)
    __attribute__((warn_unused_result));

/*
 * How full the socket's receive buffer is, and how many packets the kernel
 * dropped because it was full, modulo 2^32.  0 or a negative errno.
 */
int queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
    __attribute__((warn_unused_result));

/*
 * Lets one packet go on that a dead reader had in hand, whatever becomes of the
 * others; call before queue_recover(), which would bring it back.  An id that
 * is not queued any more is no error.  0 or a negative errno.
 */
int queue_release(int fd, uint16_t number, uint32_t id)
    __attribute__((warn_unused_result));

struct queue_reader;			/* of one thread; owns no fd */

/*
 * "received" is where packets are read to, and stays the caller's; it begins
 * at a multiple of 64 octets.
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

/* The same without waiting: -EAGAIN when there is nothing. */
int queue_receive_now(struct queue_reader *reader,
    struct queue_packet packets[static QUEUE_BATCH]);

/* Ids that never came: the kernel dropped these packets on the way to us. */
uint64_t queue_gaps(const struct queue_reader *reader);
/* Verdicts that the kernel refused; ENOENT (the packet is gone) is normal. */
uint64_t queue_verdict_errors(const struct queue_reader *reader);
/* The newest id read; 0 when there was none. */
uint32_t queue_last_id(const struct queue_reader *reader);

/*
 * Verdicts of one batch, collected and then sent in one go.  A reply is copied,
 * is at most QUEUE_REPLY_MAX long, and goes out with the given mark;
 * queue_mark() lets the packet go on with that mark, which routes it anew.
 */
void queue_pass(struct queue_reader *reader, uint32_t id);
void queue_mark(struct queue_reader *reader, uint32_t id, uint32_t mark);
void queue_drop(struct queue_reader *reader, uint32_t id);
void queue_reply(struct queue_reader *reader, uint32_t id, uint32_t mark,
    const uint8_t *packet, size_t length);

/*
 * Sends them: the single verdicts first, then one batch ACCEPT for all that
 * pass (VERDICT_BATCH takes every id up to its own).  Call once a batch, after
 * every packet of it got its verdict.  0 or a negative errno: from the first
 * error on nothing of the batch was sent, and queue_recover() brings the
 * packets back.
 */
int queue_send(struct queue_reader *reader) __attribute__((warn_unused_result));

#endif
