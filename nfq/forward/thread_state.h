/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarding thread's state, for its files only: thread.c has the loop.
 */
#ifndef NFDNS_NFQ_FORWARD_THREAD_STATE_H
#define NFDNS_NFQ_FORWARD_THREAD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/forward/thread.h"
#include "nfq/upstream/forwarder.h"

/* What the status page shows of forwarding. */
struct forward_page {
	struct status_forwarding *shown;
	monotime_t shown_at;		/* of the engine's clock */
	bool changed;			/* rounds have passed since */
	const struct status_worker *slots;
	unsigned int slot_count;
	/* Of slots, seen. */
	uint64_t seen[STATUS_MAX_SLOTS][FORWARD_DOMAINS][DOMAIN_COUNTERS];
	enum upstream_state said[FORWARD_UPSTREAMS];	/* in the log */
	monotime_t said_at[FORWARD_UPSTREAMS];
};

struct forward_thread {
	struct answering_thread thread;
	struct forwarder *forwarder;
	int control;			/* for orders: control.h */
	int wake;			/* eventfd: orders of the main thread */
	struct flush flush;		/* an order of the main thread, */
	atomic_bool flush_due;		/* which is to be done: */
	uint32_t flush_place;		/* how far it is, */
	uint32_t flushed;		/* and what it has removed */
	atomic_bool look_due;		/* for loops */
	bool has_tls;			/* an upstream of the settings is over TLS */
	struct forward_page page;
};


/* thread_status.c */

/*
 * Begins: counters of workers before this one go on.  "slots" are those of all
 * threads.
 */
void forward_page_begin(struct forward_thread *thread,
    struct status_forwarding *shown, const struct status_worker *slots,
    unsigned int slot_count);

/* After a reload: upstreams, domains and probes have other places. */
void forward_page_reload(struct forward_thread *thread);

/*
 * Shows what is known now, and logs upstreams that went or came back.  Does
 * nothing if the last time was less than STATUS_FORWARD_MS ago.
 */
void forward_page_show(struct forward_thread *thread);

/* When forward_page_show() has something to show. */
monotime_t forward_page_next(const struct forward_thread *thread);


#endif
