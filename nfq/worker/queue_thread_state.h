/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue thread's state, for its files only: queue_thread.c answers batches of
 * packets, queue_express.c asks upstreams by itself, queue_hand_over.c has what both
 * need.
 */
#ifndef NFDNS_NFQ_WORKER_QUEUE_THREAD_STATE_H
#define NFDNS_NFQ_WORKER_QUEUE_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/forward/express.h"
#include "nfq/handover/handover.h"
#include "nfq/handover/senders.h"
#include "nfq/packet/intercept.h"
#include "nfq/queue/queue.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/thread/thread_queue.h"

/* Packets that are looked at together: the CPU keeps some dozen loads apart. */
#define AHEAD		16

struct queue_thread {
	struct answering_thread thread;
	struct thread_queue queue;
	struct senders *senders;
	uint32_t mark_mask;
	uint32_t mark_odd;		/* more of the mask than passed: rare */
	uint32_t mark_unanswerable;
	uint32_t mark_answered;
	uid_t uid;			/* our own */
	uint16_t queue_number;
	uint32_t mark_stream;		/* 0: TCP is not captured */
	bool forwards;			/* there is a forwarding thread, */
	uint16_t forward_queue;		/* and its queue, */
	struct express *express;	/* if so; NULL when the thread ends */
	const struct forward_settings *forward;	/* of this batch, or NULL */
	struct cache *cache;		/* of this batch, or NULL */
	struct interception ahead[AHEAD];
	uint8_t reply[INTERCEPT_REPLY_MAX];
	uint8_t express_reply[QUEUE_REPLY_MAX];
};

/*
 * queue_express.c: holds the packet, if an upstream may be asked its question by this
 * thread.  False: the forwarding thread has to.
 */
bool queue_express_hold(struct queue_thread *thread,
    const struct queue_packet *packet, const struct interception *interception);

/* Asks some of the questions that are held. */
void queue_express_send(struct queue_thread *thread);

/*
 * Waits for replies and packets, while something is held, and handles the replies.
 * True: packets can be read.
 */
bool queue_express_wait(struct queue_thread *thread);

/* The thread ends: all that is held is handed over, and nothing more is asked. */
void queue_express_end(struct queue_thread *thread);

/* queue_hand_over.c: what the batch's settings say of forwarding. */
void queue_look_at_forwarding(struct queue_thread *thread);

/* Hands a packet over to the forwarding thread.  It counts as waiting already. */
void queue_hand_over_packet(struct queue_thread *thread,
    const struct queue_packet *packet);

#endif
