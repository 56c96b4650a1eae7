/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an engine remembers: for its own files alone. */
#ifndef NFDNS_NFQ_ASK_ENGINE_STATE_H
#define NFDNS_NFQ_ASK_ENGINE_STATE_H

#include "nfq/ask/engine.h"
#include "nfq/ask/message.h"
#include "nfq/ask/timers.h"
#include "nfq/ask/users.h"

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

#endif
