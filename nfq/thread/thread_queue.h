/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The netfilter queue that an answering thread reads.  The thread's slot of the
 * status page shows how far it has read, and what the kernel dropped or
 * refused.  A thread that cannot read or send any more is of no use: these
 * functions then log why and end the worker process.  Its successor gets the
 * packets that have no verdict yet.
 */
#ifndef NFDNS_NFQ_THREAD_THREAD_QUEUE_H
#define NFDNS_NFQ_THREAD_THREAD_QUEUE_H

#include <stdint.h>

#include "nfq/queue/queue.h"
#include "policy/status/status.h"

struct thread_queue {
	struct queue_reader *reader;	/* for verdicts: queue.h */
	queue_buffer *received;
	struct queue_packet packets[QUEUE_BATCH];	/* what was received last */
	struct status_worker *slot;
	uint16_t number;		/* of the queue, in the kernel */
	uint64_t gaps_before;		/* counted by workers before this one */
	uint64_t errors_before;
};

/*
 * Borrows fd, the bound socket of queue "number", and slot, that of the thread.
 * 0 or a negative errno; then it is closed.
 */
int thread_queue_open(struct thread_queue *queue, int fd, uint16_t number,
    struct status_worker *slot)
    __attribute__((warn_unused_result));
void thread_queue_close(struct thread_queue *queue);

/*
 * Waits for packets and takes up to QUEUE_BATCH.  Returns their number; 0 if a
 * signal came instead or only control messages.  Views live until the next
 * call.
 */
int thread_queue_receive(struct thread_queue *queue);

/* The same without waiting; -EAGAIN if nothing is queued. */
int thread_queue_receive_now(struct thread_queue *queue);

/* Sends the verdicts of the batch: queue_send(). */
void thread_queue_send(struct thread_queue *queue);

#endif
