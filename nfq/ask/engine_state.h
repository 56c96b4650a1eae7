/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an engine remembers: for its own files alone. */
#ifndef NFDNS_NFQ_ASK_ENGINE_STATE_H
#define NFDNS_NFQ_ASK_ENGINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/ask/engine.h"
#include "nfq/ask/message.h"
#include "nfq/ask/timers.h"
#include "nfq/ask/users.h"
#include "resolver/dns/rr.h"
#include "nfq/cache/cache.h"
#include "policy/config/forward_settings.h"

#define NONE		UINT32_MAX
/* Slot of the nameserver that a client addressed: nothing is known of it. */
#define ADDRESSED	FORWARD_SLOTS
/* Slot of an upstream that a reload removed: its attempts go on. */
#define REMOVED		(FORWARD_SLOTS + 1)
#define PLACES		UPSTREAM_PLACES
#define RANDOM_OCTETS	512
#define LAST_OCTETS	1232	/* a failed reply that is remembered */

enum attempt_kind {
	ATTEMPT_FREE,
	ATTEMPT_QUESTION,	/* of a pending question */
	ATTEMPT_MEASURE,	/* of one that is answered: only its time counts */
	ATTEMPT_PROBE,		/* is the upstream alive? */
	ATTEMPT_LOOP,		/* does it lead back to us? */
};

/* One message to one upstream.  Its timer: a reply is late from then on. */
struct attempt {
	struct timer timer;
	enum attempt_kind kind;
	enum forward_transport transport;
	uint16_t id;
	bool edns;
	bool lost;
	bool broken;			/* what came was malformed */
	uint32_t of;			/* pending, or index of check or domain */
	uint32_t upstream;		/* its slot */
	uint32_t place;			/* in the pending's order */
	uint32_t mismatched;
	monotime_t sent;
	bool mixed;
	uint8_t mask[MESSAGE_MASK];
	TAILQ_ENTRY(attempt) entry;	/* of the pending, or of the free ones */
};

TAILQ_HEAD(attempts, attempt);
TAILQ_HEAD(engine_clients, engine_client);

/* A question under way.  Its timer: a stale answer or the end is due. */
struct pending {
	struct timer timer;
	bool used;
	bool shared;			/* equal ones join; it stands in the index */
	bool kept;			/* its answer goes into the cache */
	bool refresh;			/* it was begun without a client */
	bool stale_given;		/* its clients have one: nobody waits */
	bool network_error;		/* the last failure was one */
	struct question asked;
	struct message_options options;
	uint64_t generation;		/* of the settings that it was begun by */
	uint32_t domain;		/* index; FORWARD_DOMAINS: none */
	struct forward_upstream nameserver;	/* ADDRESSED */
	struct engine_clients clients;
	struct attempts attempts;	/* the open ones */
	uint32_t latest;		/* attempt whose loss starts the next */
	uint32_t servers;		/* how many of: */
	uint32_t order[FORWARD_PER_DOMAIN];	/* slots */
	uint8_t tries[FORWARD_PER_DOMAIN];
	uint32_t done;			/* bit: that server has replied, badly */
	uint32_t down;			/* bit: it was when this round began */
	uint32_t plain;			/* bit: it is asked without OPT */
	uint32_t stream;		/* bit: it is asked over TCP */
	uint32_t sent;			/* attempts of this round */
	bool unsent;			/* to a server of this round nothing could be */
	uint32_t again;			/* rounds that began anew for that */
	monotime_t again_at;		/* NEVER: none is to */
	monotime_t begun;		/* when it was first asked */
	monotime_t stale_at;		/* NEVER: no stale answer is there */
	monotime_t deadline;
	size_t last_length;
	uint8_t last[LAST_OCTETS];
	uint32_t next;			/* of the index, or the next free one */
};

struct engine {
	struct engine_host host;
	struct forward_settings settings;
	uint32_t place_of[FORWARD_SLOTS];	/* index in settings.upstream, or NONE */
	struct cache *cache;		/* NULL: none, or none at this moment */
	uint64_t generation;		/* of the settings, for the cache */
	struct upstream *upstream;	/* by slot; of all threads, or: */
	struct upstreams own;
	struct engine_stats stats;
	struct timers timers;
	struct attempt *attempt;
	uint32_t attempts, attempts_used;	/* of these were ever taken */
	struct attempts free_attempts;
	struct pending *pending;
	uint32_t pendings, pendings_used, free_pending;
	uint32_t *index, index_size;	/* pending questions by their hash */
	uint64_t seed;
	struct users users;
	uint32_t under_way[FORWARD_DOMAINS + 1];	/* questions, by domain */
	uint32_t refreshing;		/* of these, without a client */
	engine_domain_counters own_domain[FORWARD_DOMAINS];
	engine_domain_counters *domain;	/* these, or those of engine_count_in() */
	uint32_t turn;
	uint8_t (*ids)[8192];		/* of streams, by upstream: in use */
	uint8_t random[RANDOM_OCTETS];
	size_t random_used;
	uint8_t out[ENGINE_MESSAGE_MAX], whole[ENGINE_MESSAGE_MAX];
	uint8_t found[CACHE_MESSAGE_MAX];
};

/* The upstream of a slot; of ADDRESSED and REMOVED none. */
static inline const struct forward_upstream *
upstream_of(const struct engine *e, uint32_t slot)
{
	return &e->settings.upstream[e->place_of[slot]];
}

/* The settings' upstreams by slot: engine_reload.c. */
void engine_place_upstreams(struct engine *e);

/* Of engine_state.c: random numbers, and what stands in pools and indices. */
void engine_random(struct engine *e, void *octets, size_t length);
uint64_t engine_random_u64(struct engine *e);

/* NULL if there are as many as there may be. */
struct pending *pending_new(struct engine *e, const struct question *asked,
    uint32_t domain);
/* Without clients and attempts. */
void pending_free(struct engine *e, struct pending *p);
uint32_t pending_number(const struct engine *e, const struct pending *p);
/* The pending question that an equal one with these options joins, or NULL. */
struct pending *pending_find(struct engine *e, const struct question *asked,
    const struct message_options *options);
void pending_share(struct engine *e, struct pending *p);

/* Whether a limit forbids to hold one more client of a user. */
bool clients_full(const struct engine *e, uint32_t uid);
void client_hold(struct engine *e, struct engine_client *client,
    struct pending *p);
void client_release(struct engine *e, struct engine_client *client);

/* Counts for a domain; for FORWARD_DOMAINS nothing. */
static inline void
domain_count(struct engine *e, uint32_t domain, enum status_domain_count which,
    int change)
{
	_Atomic uint64_t *counter;

	if (domain == FORWARD_DOMAINS)
		return;
	counter = &e->domain[domain][which];
	/* It has one writer. */
	atomic_store_explicit(counter, atomic_load_explicit(counter,
	    memory_order_relaxed) + (uint64_t)(int64_t)change,
	    memory_order_relaxed);
}

/* The domain's settings; for a client's own nameserver those of no domain. */
const struct forward_domain *pending_domain(const struct engine *e,
    const struct pending *p);

/* What a client gets: an upstream's reply, a kept message, or a failure of ours. */

/* The bounds that a message's TTLs are put into, and what is taken off then. */
struct message_ttl {
	uint32_t min, max;		/* seconds */
	uint32_t soa_max;		/* of the authority's SOA, besides */
	uint32_t age;
};

struct client_message {
	const struct question *question;	/* the client's */
	bool stream;			/* only "size" bounds the message */
	bool ad;			/* AD is handed on */
	bool cut;			/* nobody has more: as many answers as fit, no TC */
	bool cached;			/* not authoritative, whoever said so */
	struct message_ttl ttl;
	uint16_t ede;			/* EDE_NONE: those of the message */
	uint16_t *options;		/* NULL, or set to the octets of its OPT's */
};

/* No answer over UDP is longer, whatever the client offers. */
#define CLIENT_UDP_MAX	4096

/* Octets that a client takes, of "size" that there are. */
size_t client_message_limit(const struct question *question, bool stream,
    size_t size);

/*
 * Writes what a client gets of a message that answers its question: with its id,
 * its letter case, and an OPT if and only if its question had one.  A message
 * that does not fit goes without its additional records, then without its
 * authority; an answer that does not fit has no records, and TC; with "cut" it has
 * those that fit, or it is SERVFAIL if not one does.  With "cut", and over TCP, a
 * truncated message without answers is SERVFAIL, too.  "size" is at least 512; "out"
 * does not overlap.  Returns the length.
 */
size_t client_message_write(const struct client_message *how,
    const struct message *message, uint8_t *out, size_t size);

/* The same without records: a failure of ours. */
size_t client_message_error(const struct client_message *how, uint16_t rcode,
    uint8_t *out, size_t size);

/* What clients get, and what the cache gets. */

/* A message for one client, which is given back. */
struct answer_given {
	const struct message *message;	/* NULL: none, but the code */
	uint16_t rcode;			/* then */
	uint16_t ede;			/* enum extended_error, or a server's */
	bool cached;
	struct message_ttl ttl;
};

void answer_client(struct engine *e, struct engine_client *client,
    const struct answer_given *given);

/* The client is refused; with NULL, of no domain, it gets SERVFAIL. */
void answer_full(struct engine *e, struct engine_client *client,
    const struct forward_domain *domain);

/* What is kept for the question, in e->found; see cache_find(). */
bool answer_find(struct engine *e, monotime_t now,
    const struct question *asked, struct cache_entry *entry);

/* An answer that answer_find() has found, fresh or stale. */
void answer_found(struct engine *e, monotime_t now,
    struct engine_client *client, const struct cache_entry *entry);

/*
 * All clients of a question get an upstream's message, and the cache, if it may
 * be kept.  "ede" is for a failure that is handed on.
 */
void answer_reply(struct engine *e, monotime_t now, struct pending *p,
    const struct message *message, uint16_t ede);

/* All clients get a stale answer.  False: there is none. */
bool answer_stale(struct engine *e, monotime_t now, struct pending *p);

/* A refresh failed: the stale answer is not refreshed again for a while. */
void answer_retry_later(struct engine *e, monotime_t now,
    const struct cache_entry *entry);

/* All clients get a code. */
void answer_failure(struct engine *e, struct pending *p, uint16_t rcode,
    uint16_t ede);

/* Keeps a code as the failure of the question alone (RFC 9520). */
void answer_keep_failure(struct engine *e, monotime_t now,
    const struct pending *p, uint16_t rcode, uint16_t ede);

/* Sending messages to upstreams, and what their fate says of the upstream. */

/*
 * Asks the server at that place of a pending question's order.  False if nothing
 * could be sent.
 */
bool attempt_ask(struct engine *e, monotime_t now, struct pending *p,
    uint32_t place);

/* A question of ours to an upstream; it is lost after wait_ms. */
bool attempt_own(struct engine *e, monotime_t now, enum attempt_kind kind,
    uint32_t upstream, const struct question *question, uint32_t of,
    uint32_t wait_ms);

/* Nothing is awaited from it any more. */
void attempt_end(struct engine *e, struct attempt *a);

/* Ends all of a pending question; those that are not late go on as MEASURE. */
void attempts_end(struct engine *e, struct pending *p);

/* Ends all that belong to no question. */
void attempts_end_own(struct engine *e);

/* It was answered, after the time since it was sent. */
void attempt_replied(struct engine *e, monotime_t now,
    const struct attempt *a);

/* It was lost: no reply in its time (0), or the network's error, positive. */
void attempt_lost(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* It was not sent, which says nothing of the server, and is ended. */
void attempt_unsent(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* Marks an id as used, or no longer, on the streams to an upstream. */
void attempt_flip_id(struct engine *e, uint32_t upstream, uint16_t id);

/* The number's attempt, or NULL if there is none. */
struct attempt *attempt_of(struct engine *e, uint32_t number);

/* The course of a pending question, from its first attempt to its end. */

/*
 * Begins: its first attempt is sent.  A question without a server that can be
 * asked ends at once.
 */
void course_begin(struct engine *e, monotime_t now, struct pending *p);

/* A reply to one of its attempts. */
void course_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length);

/* One of its attempts failed; "error" is positive. */
void course_error(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* One of its attempts was not sent; "error" is positive. */
void course_unsent(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* One of its attempts is late: it stays open, and another may begin. */
void course_late(struct engine *e, monotime_t now, struct attempt *a);

/* The question's own timer: a stale answer, or its end. */
void course_timer(struct engine *e, monotime_t now, struct pending *p);

/* Ends a question without clients. */
void course_end(struct engine *e, struct pending *p);

/*
 * A client that joins has a stale answer in the cache, which it gets after the
 * usual wait, unless an earlier client's wait ends before that.
 */
void course_join_stale(struct engine *e, monotime_t now, struct pending *p);

/* Which replies may be kept in the cache, for how long, and what is kept. */

struct keep_limits {
	const struct forward_cache_settings *cache;
	uint32_t negative_max_s;	/* of the domain */
	uint32_t wall_s;		/* seconds since 1970; 0: unknown */
};

struct keep {
	enum cache_kind kind;
	uint32_t ttl_s;			/* above 0 */
};

/*
 * Whether a reply that answers the question (its view has one question) may be
 * kept.  Not kept are: truncated ones, classes other than IN, codes other than
 * NOERROR and NXDOMAIN, denials without SOA (RFC 2308 section 5), TTL 0, an answer
 * that depends on the client's network (RFC 7871), one whose chain of CNAMEs does
 * not lead from the question to its record or to a SOA, one with an expired
 * RRSIG, and one that costs too much to read.
 */
bool keep_reply(struct keep *keep, const struct message *message,
    const struct question *question, const struct keep_limits *limits);

/*
 * The extended error (RFC 8914) of a message that is kept stands where its id was;
 * 0: none.  Its text is not kept.
 */
void keep_ede(uint8_t message[static DNS_HEADER], uint16_t ede);
uint16_t kept_ede(const struct message *message);

/*
 * Writes what is kept of a reply: its extended error, no AA, the name in lower
 * case, no OPT, TTLs within the limits.  0 if that is longer than
 * CACHE_MESSAGE_MAX.
 */
size_t keep_write(const struct keep *keep, const struct message *message,
    const struct question *question, const struct keep_limits *limits,
    uint8_t out[static CACHE_MESSAGE_MAX]);

/* Our own questions: health and loops. */

/* Sends those that are due. */
void probes_send(struct engine *e, monotime_t now);

/* When the next is due, or MONOTIME_NEVER. */
monotime_t probes_next(const struct engine *e);

/* A reply to one. */
void probe_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length);

/* One was lost (0), or failed with an error of the network, positive. */
void probe_lost(struct engine *e, monotime_t now, struct attempt *a,
    int error);

/* Whether a client's question is a loop probe of ours; notes the loop then. */
bool probe_came_back(struct engine *e, monotime_t now,
    const struct question *question);

/* What an upstream's reply to our question is worth.  Pure. */

/* A referral to other servers: this one does not serve the name (RFC 1912). */
bool reply_is_lame(const struct message *reply);

/* Whether it is a reason to ask another server. */
bool reply_is_failure(const struct forward_attempt_settings *settings,
    const struct message *reply);

#endif
