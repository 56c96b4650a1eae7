/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarding thread's state, for its files only: thread.c has the loop,
 * thread_host.c does what the engine wants done.
 */
#ifndef NFDNS_NFQ_FORWARD_THREAD_STATE_H
#define NFDNS_NFQ_FORWARD_THREAD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/ask/engine.h"
#include "nfq/held/held.h"
#include "nfq/forward/thread.h"
#include "nfq/upstream/tcp_upstreams.h"
#include "nfq/upstream/upstream_sockets.h"
#include "nfq/packet/intercept.h"
#include "nfq/thread/thread_queue.h"

/* What the status page shows of forwarding. */
struct forward_page {
	struct status_forwarding *shown;
	monotime_t shown_at;		/* of the engine's clock */
	bool changed;			/* rounds have passed since */
	const struct status_worker *slots;
	unsigned int queues;
	uint64_t hits[CONFIG_MAX_WORKERS][FORWARD_DOMAINS];	/* of slots, seen */
	uint64_t answered[CONFIG_MAX_WORKERS][FORWARD_DOMAINS];
	enum upstream_state said[FORWARD_UPSTREAMS];	/* in the log */
	monotime_t said_at[FORWARD_UPSTREAMS];
};

struct forward_thread {
	struct answering_thread thread;
	struct thread_queue queue;
	uint32_t mark_mask;
	uint32_t mark_answered;
	int epoll;
	int control;			/* for orders: control.h */
	int wake;			/* eventfd: orders of the main thread */
	_Atomic int fresh;		/* channel to nfdns-tls; -1: none */
	struct flush flush;		/* an order of the main thread, */
	atomic_bool flush_due;		/* which is to be done: */
	uint32_t flush_place;		/* how far it is, */
	uint32_t flushed;		/* and what it has removed */
	atomic_bool look_due;		/* for loops */
	bool errands_left;		/* more than a round takes */
	struct engine *engine;
	uint64_t generation;		/* whose settings the engine has */
	monotime_t boot;		/* the engine's time in this round */
	bool ending;			/* what is held stays in the queue */
	struct held_table held;
	struct waiting *waiting;	/* what queue threads count */
	monotime_t checked;		/* when that was last compared with "held" */
	int32_t over_least, over_most;	/* above "held", since then */
	struct upstream_sockets sockets;
	struct tcp_upstreams *tcp;
	bool has_tls;			/* an upstream of the settings is over TLS */
	struct interception interception;
	struct policy_source policy;	/* rules alone: their rates were taken */
	uint64_t before[FORWARD_COUNTERS];	/* by workers before this one */
	struct forward_page page;
	size_t random_left;
	uint8_t random[1024];
	uint8_t reply[QUEUE_REPLY_MAX];
};


/* thread_status.c */

/*
 * Begins: counters of workers before this one go on.  "slots" are those of the
 * queue threads.
 */
void forward_page_begin(struct forward_thread *thread,
    struct status_forwarding *shown, const struct status_worker *slots,
    unsigned int queues);

/* After a reload: upstreams, domains and probes have other places. */
void forward_page_reload(struct forward_thread *thread);

/*
 * Shows what is known now, and logs upstreams that went or came back.  Does
 * nothing if the last time was less than STATUS_FORWARD_MS ago.
 */
void forward_page_show(struct forward_thread *thread);

/* When forward_page_show() has something to show. */
monotime_t forward_page_next(const struct forward_thread *thread);


/* thread_host.c */

/* What an engine is to call; all get the thread. */
extern const struct engine_host forward_host;

/* Unpredictable octets. */
void forward_random(struct forward_thread *thread, void *octets, size_t length);

/* thread_packets.c: a question of the queue. */
void thread_take_packet(struct forward_thread *thread,
    const struct queue_packet *packet);

/* thread_express.c */

/* The sum of a counter (enum forward_count) of all queue threads. */
uint64_t thread_express_sum(const struct forward_thread *thread,
    size_t counter);

/* In each round: forgets what nobody takes. */
void thread_express_tick(struct forward_thread *thread);

/* What a queue thread has begun for that packet, or NULL; the caller frees it. */
struct begun_question *thread_express_take(struct forward_thread *thread,
    const struct queue_packet *packet);

/* The client's question goes on with it; else it is asked anew. */
void thread_express_resume(struct forward_thread *thread,
    struct engine_client *client, struct begun_question *begun);

/* thread_errands.c: clients with "stream" set wait for errands of the TCP thread. */

/* Begins some of those that have come. */
void thread_errands_take(struct forward_thread *thread);

/* The engine gives such a client back: with an answer, or without. */
void thread_errand_answer(struct forward_thread *thread,
    struct engine_client *client, const uint8_t *octets, size_t length);
void thread_errand_end(struct forward_thread *thread,
    struct engine_client *client, bool passed);

/* thread_streams.c */

/* 0 or a negative errno; the thread's sources of events are there. */
int thread_streams_init(struct forward_thread *thread,
    const struct worker_options *options);

/* What has happened to connections, and what nfdns-tls says of those over TLS. */
void thread_tcp_take(struct forward_thread *thread);

/* What is due, and attempts that have failed meanwhile, which make others. */
void thread_streams_tick(struct forward_thread *thread);

/* New settings: whether nfdns-tls is needed before the first question. */
void thread_streams_note(struct forward_thread *thread,
    const struct forward_settings *settings);

#endif
