/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions under way: clients wait for questions, a question has attempts,
 * an attempt is one message to one upstream.
 *
 *	client (a held packet) -> question (equal ones joined) -> attempts
 *
 * This room forwards questions to nameservers and keeps their answers.  Its pure
 * part (engine, upstream, message, cache) makes no system call but to wait for a
 * lock of the cache: time, random numbers and everything that is sent pass through
 * the functions below.
 *
 * "now" is of CLOCK_BOOTTIME, so that what is cached grows old in a suspended
 * machine.  All memory is taken by engine_new().  Each thread that asks has an
 * engine of its own; they share the cache and what is known of upstreams.
 */
#ifndef NFDNS_NFQ_ASK_ENGINE_H
#define NFDNS_NFQ_ASK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/cache/cache.h"
#include "nfq/ask/upstream.h"
#include "policy/config/forward_settings.h"
#include "resolver/answer/chase.h"
#include "resolver/clock.h"
#include "resolver/dns/question.h"

#define ENGINE_MESSAGE_MAX	65535

/* The question for the end of a chain; the engine's. */
struct engine_end {
	struct question question;
	uint8_t message[CHASE_QUESTION_MAX];
};

/*
 * Somebody who waits.  The caller owns it and all it points to and keeps it
 * until it is given back through answer(), pass() or drop(), each of which may
 * happen within engine_ask().
 */
struct engine_client {
	/* Set by the caller. */
	const uint8_t *message;		/* the question as sent, a DNS message, */
	size_t length;
	struct question question;	/* and what question_parse() says of it */
	uint32_t uid;			/* whom it counts for */
	bool stream;			/* TCP: its size is not limited to UDP's */
	struct forward_upstream nameserver;	/* that the client addressed */
	const struct chase *chase;	/* NULL, or: the chain's end is asked for, */
	struct engine_end *end;		/* with room for that question */
	uint64_t generation;		/* of the settings, if "domain" is known by them */
	uint32_t domain;		/* its place there; then the engine's, for counters */
	bool absent;			/* the cache had nothing of it just now */
	/* The engine's. */
	const struct question *asked;	/* the client's, or that of the end */
	monotime_t since;
	uint32_t held;			/* its question, for limits */
	uint16_t options;		/* octets of them in the OPT that ends its answer;
					 * if it has "stream" set */
	TAILQ_ENTRY(engine_client) entry;
};

/*
 * What the engine needs of the world.  All get "arg"; none may call the engine.
 */
struct engine_host {
	void *arg;
	/*
	 * Sends a message to an upstream.  "transport" is UDP, TCP or TLS, never
	 * AUTO.  The attempt's number is not in use until close(); what arrives
	 * from that upstream for it goes to engine_reply().  For UDP: a new
	 * connected socket with a random port.  For streams: the message without
	 * the two octets of its length; no two open attempts to one upstream have
	 * the same id there.  Returns 0, or a negative errno, and then there is no
	 * attempt.
	 */
	int (*send)(void *arg, uint32_t attempt,
	    const struct forward_upstream *to, enum forward_transport transport,
	    const uint8_t *octets, size_t length);
	/* Nothing is awaited for that attempt any more. */
	void (*close)(void *arg, uint32_t attempt);
	/* The client gets this message, which is the engine's. */
	void (*answer)(void *arg, struct engine_client *client,
	    const uint8_t *octets, size_t length);
	/* The client's packet goes to the nameserver it is for. */
	void (*pass)(void *arg, struct engine_client *client);
	/* The client's packet is dropped: it is a probe of ours that came back. */
	void (*drop)(void *arg, struct engine_client *client);
	/* Unpredictable octets (RFC 5452 section 9.2). */
	void (*random)(void *arg, void *octets, size_t length);
	/* Seconds since 1970, for signatures that expire (RFC 4034 3.1.5). */
	uint32_t (*wall)(void *arg);
	/*
	 * NULL: this engine probes upstreams, looks for loops, and flushes from
	 * the cache what a reload changes.  Else another one does, that shares the
	 * upstreams, and this tells that one of them is to be probed.
	 */
	void (*probe)(void *arg);
};

/* By enum status_domain_count. */
typedef _Atomic uint64_t engine_domain_counters[DOMAIN_COUNTERS];

/* Counters since engine_new(); all only grow, but for "held" and "questions". */
struct engine_stats {
	uint64_t asked;			/* clients */
	uint64_t answered;		/* by an upstream's reply */
	uint64_t hits;			/* from the cache */
	uint64_t stale;			/* by expired answers */
	uint64_t failed;		/* SERVFAIL by us */
	uint64_t passed;
	uint64_t refused;		/* above a limit; REFUSED or SERVFAIL */
	uint64_t joined;
	uint64_t attempts;
	uint64_t mismatched;		/* replies skipped: other id or question */
	uint64_t malformed;		/* replies */
	uint64_t truncated;		/* replies; asked again over TCP */
	uint64_t late;			/* replies after the client was answered */
	uint64_t prefetched;
	uint64_t loops;			/* probes of ours that came back */
	uint32_t held;			/* clients now */
	uint32_t questions;		/* under way now */
};

struct engine;

/*
 * An engine with valid settings, which are copied.  "host" is copied; "cache"
 * is borrowed and may be NULL.  "shared" is borrowed: what is known of upstreams, by
 * slots that the settings have (forward_settings_place(), upstreams_enter());
 * NULL: it has its own.  limits.held of these settings sizes it for good.  NULL
 * without memory.
 */
struct engine *engine_new(const struct engine_host *host,
    const struct forward_settings *settings, struct cache *cache,
    struct upstreams *shared, monotime_t now);

/* Passes all clients, closes all attempts.  NULL is allowed. */
void engine_free(struct engine *engine);

/*
 * New valid settings.  What is known of upstreams that stay is kept; questions
 * under way go on with their attempts; a domain whose upstreams changed is
 * flushed from the cache.
 */
void engine_reload(struct engine *engine, monotime_t now,
    const struct forward_settings *settings, struct cache *cache);

/*
 * The cache from now on, and the generation of the settings that answers are kept
 * for (cache.h).  NULL: none at this moment.
 */
void engine_use_cache(struct engine *engine, struct cache *cache,
    uint64_t generation);

/* Looks for loops again, at once. */
void engine_look_for_loops(struct engine *engine, monotime_t now);

/* A question.  The client belongs to the engine until it is given back. */
void engine_ask(struct engine *engine, monotime_t now,
    struct engine_client *client);

/* Octets that arrived for an attempt; over streams a whole message. */
void engine_reply(struct engine *engine, monotime_t now, uint32_t attempt,
    const uint8_t *octets, size_t length);

/* An attempt failed: ECONNREFUSED, a stream that broke.  "error" is positive. */
void engine_error(struct engine *engine, monotime_t now, uint32_t attempt,
    int error);

/*
 * An attempt's message could not be sent, which turned out after engine_host.send:
 * that says nothing of the server, but of this machine.  "error" is positive.
 */
void engine_unsent(struct engine *engine, monotime_t now, uint32_t attempt,
    int error);

/* When engine_tick() is needed next; MONOTIME_NEVER: not before another call. */
monotime_t engine_next(const struct engine *engine);

/*
 * Does what is due: next attempts, answers of failure, probes.  Where much
 * is due, it does part of it, and engine_next() stays in the past.
 */
void engine_tick(struct engine *engine, monotime_t now);

/* Those it has. */
const struct forward_settings *engine_settings(const struct engine *engine);

/*
 * What is known of an upstream or a domain of the settings, by its index there.  A
 * caller may set counters, so that they go on.
 */
struct upstream *engine_upstream(struct engine *engine, uint32_t index);
engine_domain_counters *engine_domain(struct engine *engine, uint32_t index);

/*
 * Counts from now on there, FORWARD_DOMAINS of them, whatever place a reload gives
 * them; what they count stays.  Others may read it.
 */
void engine_count_in(struct engine *engine, engine_domain_counters *domains);

const struct engine_stats *engine_stats(const struct engine *engine);

#endif
