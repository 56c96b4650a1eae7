/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the supervisor and its worker share: the batch of packets that
 * each queue thread is handling, and the packet of it that it is at.  When the
 * worker dies or hangs, the supervisor knows which packet it was, and has its
 * octets.  No other process can read this memory.
 *
 * The worker writes it, so the supervisor trusts nothing in it.  It takes two
 * things from it: an id, for which the worker itself could give any verdict,
 * and octets that the supervisor does not parse.
 */
#ifndef NFDNS_NFQ_HANDOVER_BATCH_WINDOW_H
#define NFDNS_NFQ_HANDOVER_BATCH_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/queue/queue.h"

/* Values of "fault"; any other is 1 + the number of a queue thread. */
#define WINDOW_NO_FAULT		0U
#define WINDOW_FAULT_ELSEWHERE	UINT32_MAX	/* not in a queue thread */

/* A nameserver whose reply is handled, all zero: none is. */
struct window_source {
	uint32_t family;
	uint32_t port;
	uint8_t address[16];		/* IPv4: the first four */
};

/* "address" has 4 octets of IPv4 (AF_INET) or 16 of IPv6, which are copied. */
struct window_source window_source_of(uint32_t family, uint32_t port,
    const uint8_t *address);

struct window_queue {
	_Alignas(64) _Atomic uint32_t current;	/* 1 + index in packets; 0: none */
	struct window_source source;
	struct queue_packet packets[QUEUE_BATCH];
	_Alignas(64) queue_buffer received[QUEUE_BATCH];	/* the packets' octets */
};

/*
 * The senders of packets that dead workers had read.  The kernel queues those
 * again, but names no user once the socket is closed.
 */
#define WINDOW_OWNERS	2048		/* the last; a batch of each of 32 queues */

struct window_owner {
	uint64_t packet[2];		/* hash of its octets */
	uid_t uid;
	gid_t gid;
};

struct batch_window {
	_Atomic uint32_t fault;		/* the thread that crashed: fault.h */
	uint32_t next;			/* of owners, which go round */
	struct window_owner owners[WINDOW_OWNERS];
	struct window_queue queues[];
};

/* A copy of one packet. */
struct window_packet {
	uint32_t id;
	uid_t uid;			/* of its sender; (uid_t)-1: not known */
	size_t length;			/* 0: its octets are not known */
	uint8_t octets[QUEUE_COPY];
};

/*
 * Memory that fork(2) shares, all zero.  Pages take memory once they are
 * written.  0 or a negative errno.
 */
int window_new(struct batch_window **window, unsigned int queues)
    __attribute__((warn_unused_result));
void window_free(struct batch_window *window, unsigned int queues);

/* Forgets what a dead worker left.  Call before a worker is started. */
void window_clear(struct batch_window *window, unsigned int queues);

/*
 * Copies the packet that the thread of a queue is at; false if it is at none.
 * The copy is consistent only if the worker is dead.
 */
bool window_read(const struct window_queue *queue,
    struct window_packet *packet);

/* Forgets these owners, too, and what is in the buffers. */
void window_forget(struct batch_window *window, unsigned int queues);

/*
 * Keeps the owners of what is in the queues' buffers.  For a new worker, before
 * its threads read anything.
 */
void window_keep_owners(struct batch_window *window, unsigned int queues);

/* Sets the user and the group of a packet whose owner is kept; false: it is not. */
bool window_find_owner(const struct batch_window *window,
    struct queue_packet *packet);

/* Copies the nameserver whose reply the thread is at; false if it is at none. */
bool window_read_source(const struct window_queue *queue,
    struct window_source *source);

/* A number for a nameserver, for suspects.h. */
uint32_t window_source_key(const struct window_source *source);

/*
 * Called by the queue thread before it handles packet number "index" of the
 * batch.  The store comes before whatever crashes this thread, since the
 * compiler may not move it past the fence, which is no instruction.
 */
static inline void
window_begin_packet(struct window_queue *queue, unsigned int index)
{
	atomic_store_explicit(&queue->current, index + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Called by the forwarding thread before and after it handles replies. */
static inline void
window_begin_reply(struct window_queue *queue,
    const struct window_source *source)
{
	queue->source = *source;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void
window_end_reply(struct window_queue *queue)
{
	atomic_signal_fence(memory_order_seq_cst);
	queue->source.family = 0;
}

/* Called by the queue thread when it is done with all packets of the batch. */
static inline void
window_end_batch(struct window_queue *queue)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&queue->current, 0, memory_order_relaxed);
}

#endif
