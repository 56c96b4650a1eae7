/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's main thread probes upstreams, for all threads that ask, looks for
 * loops, flushes the cache, and shows on the status page what is known of upstreams
 * and domains.
 */
#ifndef NFDNS_NFQ_WORKER_KEEPER_H
#define NFDNS_NFQ_WORKER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/handover/handover.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/upstream/forwarder.h"

/* What the status page shows of forwarding. */
struct keeper_page {
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

struct keeper {
	struct answering_thread thread;	/* the main one: it is not started */
	struct forwarder *forwarder;
	int control;			/* for orders: control.h */
	int wake;			/* eventfd: other threads want something */
	struct flush flush;		/* an order, */
	bool flush_due;			/* which is to be done: */
	uint32_t flush_place;		/* how far it is, */
	uint32_t flushed;		/* and what it has removed */
	bool has_tls;			/* an upstream of the settings is over TLS */
	struct keeper_page page;
};

/*
 * With the slot of that number.  Borrows what the handover points to.  0 and
 * *keeper, or a negative errno.
 */
int keeper_new(struct keeper **keeper, struct answering_threads *threads,
    const struct worker_handover *handover, unsigned int number)
    __attribute__((warn_unused_result));
void keeper_free(struct keeper *keeper);

/*
 * Waits until there is something to do; *ordered: the supervisor has an order.  Then
 * does what other threads want and what is due.
 */
void keeper_round(struct keeper *keeper, bool *ordered);

/* After a reload: takes the new settings at once. */
void keeper_take_generation(struct keeper *keeper);

/* Packets get to the queue: what leads back to us can be found from now on. */
void keeper_look_for_loops(struct keeper *keeper);

/*
 * Answers are removed from the cache in the next rounds, and the supervisor is told
 * how many (CONTROL_FLUSHED).  False: there is another such order yet.
 */
bool keeper_take_flush(struct keeper *keeper, const struct flush *flush);

/* A channel to nfdns-tls, which is copied. */
void keeper_take_tls(struct keeper *keeper, int channel);


/* keeper_page.c */

/* Begins: counters of workers before this one go on. */
void keeper_page_begin(struct keeper *keeper, const struct status_page *page);

/* After a reload: upstreams, domains and probes have other places. */
void keeper_page_reload(struct keeper *keeper);

/*
 * Shows what is known now, and logs upstreams that went or came back.  Does
 * nothing if the last time was less than STATUS_FORWARD_MS ago.
 */
void keeper_page_show(struct keeper *keeper);

/* When keeper_page_show() has something to show. */
monotime_t keeper_page_next(const struct keeper *keeper);

#endif
