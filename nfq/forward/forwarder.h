/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that a thread asks of upstreams for clients whose packets wait in its
 * queue: they are held (nfq/held), the engine (nfq/ask) decides who is asked, and
 * the answer turns the packet round.
 *
 * A thread calls, in this order, again and again:
 *
 *	n = forwarder_wait(f, events, until);
 *	answering_begin(...);
 *	forwarder_begin(f, cache);
 *	forwarder_take(f, events, n);	replies, and what is due
 *	for each packet: forwarder_hold(f, packet, interception)
 *	forwarder_ask(f, most);
 *	thread_queue_send(...);
 *	forwarder_end(f);
 *	answering_end(...);
 */
#ifndef NFDNS_NFQ_FORWARD_FORWARDER_H
#define NFDNS_NFQ_FORWARD_FORWARDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "nfq/ask/engine.h"
#include "nfq/held/held.h"
#include "nfq/held/turns.h"
#include "nfq/packet/intercept.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/thread/thread_queue.h"
#include "nfq/upstream/ports.h"
#include "nfq/upstream/tcp_upstreams.h"

#define FORWARDER_EVENTS	64	/* of one round */

struct forwarder;

/* Clients of the engine with "stream" set are not held: they are the caller's. */
struct forwarder_streams {
	void (*answer)(void *arg, struct engine_client *client,
	    const uint8_t *octets, size_t length);
	void (*end)(void *arg, struct engine_client *client, bool passed);
};

struct forwarder_options {
	struct answering_thread *thread;	/* borrowed, as the rest */
	struct thread_queue *queue;	/* NULL: no packets are held */
	int queue_fd;			/* the same, or -1 */
	uint16_t queue_number;		/* in audit records */
	uint32_t most;			/* questions at a time; of one user half */
	uint32_t mark_mask, mark_answered, mark_relay;
	const struct forwarder_streams *streams;	/* NULL: none */
	void *arg;			/* of these */
	bool keeps;			/* it probes, and flushes the cache at a reload */
};

struct forwarder {
	struct forwarder_options options;
	struct engine *engine;
	struct held_table held;
	struct turns turns;
	struct ports ports;
	struct tcp_upstreams *tcp;
	int epoll;
	uint64_t generation;		/* whose settings the engine has */
	monotime_t boot;		/* the engine's time in this round */
	bool ending;			/* what is held stays in the queue */
	uint64_t before[FORWARD_COUNTERS];	/* by workers before this one */
	struct interception judged;
	size_t random_left;
	uint8_t random[1024];
	uint8_t reply[QUEUE_REPLY_MAX];
};

/* 0 and *forwarder, or a negative errno. */
int forwarder_new(struct forwarder **forwarder, const struct forwarder_options *options)
    __attribute__((warn_unused_result));

/* What is held stays in the queue.  NULL is allowed. */
void forwarder_free(struct forwarder *forwarder);

/* Whether nothing waits and nothing is awaited: the queue alone can be waited for. */
bool forwarder_is_idle(const struct forwarder *forwarder);

/*
 * Waits for events, or for what is due, or until then.  Of an event of the queue
 * data.ptr is NULL; the thread may add its own to "epoll".
 */
int forwarder_wait(struct forwarder *forwarder, struct epoll_event events[static FORWARDER_EVENTS],
    monotime_t until);

/* Takes the settings of the thread's generation; cache: NULL, or what is to be used. */
void forwarder_begin(struct forwarder *forwarder, struct cache *cache);

/* Replies among the events, and what is due. */
void forwarder_take(struct forwarder *forwarder, const struct epoll_event *events,
    int count);

/*
 * Holds a packet that is to be forwarded; its question is asked at its turn.  False:
 * too many are held, of all or of its user, or it is too long.
 */
bool forwarder_hold(struct forwarder *forwarder, const struct queue_packet *packet,
    struct interception *interception);

/* Asks at most so many of those that are held. */
void forwarder_ask(struct forwarder *forwarder, unsigned int most);

/* Shows counters on the status page. */
void forwarder_end(struct forwarder *forwarder);

/* Unpredictable octets. */
void forwarder_random(struct forwarder *forwarder, void *octets, size_t length);

#endif
