/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread asks upstreams with: an engine (nfq/ask), which decides who is asked,
 * and its own ports and connections.  It knows no packet: clients are the caller's.
 *
 * A thread calls, in this order, again and again:
 *
 *	n = forwarder_wait(f, events, until);
 *	answering_begin(...);
 *	forwarder_begin(f, cache);
 *	forwarder_take(f, events, n);	replies, and what is due
 *	forwarder_expect(f, held);
 *	for each question: forwarder_ask(f, client);
 *	forwarder_end(f, held);
 *	answering_end(...);
 */
#ifndef NFDNS_NFQ_UPSTREAM_FORWARDER_H
#define NFDNS_NFQ_UPSTREAM_FORWARDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "nfq/ask/engine.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/upstream/ports.h"
#include "nfq/upstream/tcp_upstreams.h"

#define FORWARDER_EVENTS	64	/* of one round */

struct forwarder;

/* What becomes of clients: as in struct engine_host, each with "arg". */
struct forwarder_clients {
	void (*answer)(void *arg, struct engine_client *client,
	    const uint8_t *octets, size_t length);
	void (*pass)(void *arg, struct engine_client *client);
	void (*drop)(void *arg, struct engine_client *client);
};

struct forwarder_options {
	struct answering_thread *thread;	/* borrowed, as the rest */
	int fd;				/* that its thread waits for as well; -1: none */
	uint32_t most;			/* questions of clients at a time */
	uint32_t mark_relay;
	const struct forwarder_clients *clients;	/* NULL: there are none */
	void *arg;			/* of these */
	bool probes;			/* it probes, and flushes the cache at a reload */
};

struct forwarder {
	struct forwarder_options options;
	struct engine *engine;
	struct ports ports;
	struct tcp_upstreams *tcp;
	int epoll;
	uint64_t generation;		/* whose settings the engine has */
	monotime_t boot;		/* the engine's time in this round */
	uint64_t before[FORWARD_COUNTERS];	/* by workers before this one */
	size_t random_left;
	uint8_t random[1024];
};

/* 0 and *forwarder, or a negative errno. */
int forwarder_new(struct forwarder **forwarder, const struct forwarder_options *options)
    __attribute__((warn_unused_result));

/* Clients that wait pass.  NULL is allowed. */
void forwarder_free(struct forwarder *forwarder);

/* Whether nothing is awaited and nothing due: "fd" alone can be waited for. */
bool forwarder_is_idle(const struct forwarder *forwarder);

/*
 * Waits for events, or for what is due, or until then.  Of an event of "fd"
 * data.ptr is NULL; the thread may add its own to "epoll".
 */
int forwarder_wait(struct forwarder *forwarder, struct epoll_event events[static FORWARDER_EVENTS],
    monotime_t until);

/* Takes the settings of the thread's generation; cache: NULL, or what is to be used. */
void forwarder_begin(struct forwarder *forwarder, struct cache *cache);

/* Replies among the events, and what is due. */
void forwarder_take(struct forwarder *forwarder, const struct epoll_event *events,
    int count);

/* So many clients wait, or are about to be asked for: ports are shared among many. */
void forwarder_expect(struct forwarder *forwarder, uint32_t held);

/* As engine_ask(), at this moment. */
void forwarder_ask(struct forwarder *forwarder, struct engine_client *client);

/* Shows counters on the status page, and that so many clients wait. */
void forwarder_end(struct forwarder *forwarder, uint32_t held);

/* Unpredictable octets. */
void forwarder_random(struct forwarder *forwarder, void *octets, size_t length);

#endif
