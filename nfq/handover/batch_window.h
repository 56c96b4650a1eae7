/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the supervisor and its worker share: the packets of the batch
 * that each queue thread has in hand, and which of them it is judging.  When
 * the worker dies or hangs, the supervisor knows which packet it was, and has
 * its octets.  Nobody else can read it.
 *
 * The worker writes it, so the supervisor believes nothing in it: it takes an
 * id, with which a worker could do no more than with its own verdicts, and
 * opaque octets.
 */
#ifndef NFDNS_NFQ_HANDOVER_BATCH_WINDOW_H
#define NFDNS_NFQ_HANDOVER_BATCH_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/queue/queue.h"

/* What "fault" says besides 1 + the number of a queue. */
#define WINDOW_NO_FAULT		0U
#define WINDOW_FAULT_ELSEWHERE	UINT32_MAX	/* in no queue thread */

struct window_queue {
	_Alignas(64) _Atomic uint32_t judging;	/* 1 + place in packets; 0: none */
	struct queue_packet packets[QUEUE_BATCH];
	_Alignas(64) queue_buffer received[QUEUE_BATCH];	/* the packets' octets */
};

struct batch_window {
	_Atomic uint32_t fault;		/* the thread that crashed: fault.h */
	struct window_queue queues[];
};

/* One packet, copied out; a value. */
struct window_packet {
	uint32_t id;
	uid_t uid;			/* (uid_t)-1: not known */
	size_t length;			/* 0: its octets are not known */
	uint8_t octets[QUEUE_COPY];
};

/* For fork(2) to share; touched memory only is used.  0 or a negative errno. */
int window_new(struct batch_window **window, unsigned int queues)
    __attribute__((warn_unused_result));
void window_free(struct batch_window *window, unsigned int queues);

/* Before a worker is started. */
void window_clear(struct batch_window *window, unsigned int queues);

/*
 * The packet that the thread of a queue is judging; false when there is none.
 * A whole copy only if the worker is dead.
 */
bool window_read(const struct window_queue *queue, struct window_packet *packet);

/*
 * The worker's side: packet "place" of the batch is in hand from here on.
 * One store; the fence costs nothing but keeps it before what follows, for a
 * crash comes in this very thread.
 */
static inline void
window_judge(struct window_queue *queue, unsigned int place)
{
	atomic_store_explicit(&queue->judging, place + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* None is in hand any more. */
static inline void
window_judged(struct window_queue *queue)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&queue->judging, 0, memory_order_relaxed);
}

#endif
