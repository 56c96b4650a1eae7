/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's main thread probes upstreams, for all threads that ask, looks for
 * loops, flushes the cache, and shows on the status page what is known of upstreams
 * and domains.
 */
#ifndef NFDNS_NFQ_WORKER_MAIN_THREAD_H
#define NFDNS_NFQ_WORKER_MAIN_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"
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

struct main_thread {
	struct answering_thread thread;	/* the main one: it is not started */
	struct forwarder *forwarder;
	int control;			/* for orders: control.h */
	int wake;			/* eventfd: other threads want something */
	struct flush flush;		/* an order, */
	bool flush_due;			/* which is to be done: */
	uint32_t flush_place;		/* how far it is, */
	uint32_t flushed;		/* and what it has removed */
	bool has_tls;			/* an upstream of the settings is over TLS */
	struct forward_page page;
};

/*
 * With the slot of that number.  Borrows what the handover points to.  0 and
 * *main_thread, or a negative errno.
 */
int main_thread_new(struct main_thread **main_thread,
    struct answering_threads *threads, const struct worker_handover *handover,
    unsigned int number)
    __attribute__((warn_unused_result));
void main_thread_free(struct main_thread *main_thread);

/*
 * Waits until there is something to do; *ordered: the supervisor has an order.  Then
 * does what other threads want and what is due.
 */
void main_thread_round(struct main_thread *main_thread, bool *ordered);

/* After a reload: takes the new settings at once. */
void main_thread_take_generation(struct main_thread *main_thread);

/* Packets get to the queue: what leads back to us can be found from now on. */
void main_thread_look_for_loops(struct main_thread *main_thread);

/*
 * Answers are removed from the cache in the next rounds, and the supervisor is told
 * how many (CONTROL_FLUSHED).  False: there is another such order yet.
 */
bool main_thread_take_flush(struct main_thread *main_thread,
    const struct flush *flush);

/* A channel to nfdns-tls, which is copied. */
void main_thread_take_tls(struct main_thread *main_thread, int channel);

/* forward_page.c */

/* Begins: counters of workers before this one go on. */
void forward_page_begin(struct main_thread *main_thread,
    const struct status_page *page);

/* After a reload: upstreams, domains and probes have other places. */
void forward_page_reload(struct main_thread *main_thread);

/*
 * Shows what is known now, and logs upstreams that went or came back.  Does
 * nothing if the last time was less than STATUS_FORWARD_MS ago.
 */
void forward_page_show(struct main_thread *main_thread);

/* When forward_page_show() has something to show. */
monotime_t forward_page_next(const struct main_thread *main_thread);

#endif
