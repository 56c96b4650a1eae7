/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/ask/engine_state.h"
#include "nfq/ask/cached_answer.h"
#include "resolver/dns/wire.h"

#define ATTEMPTS_EACH	4	/* of a question, on average, at most */
#define ATTEMPTS_OWN	512	/* of probes and checks */
#define DUE_AT_ONCE	64	/* a server's silence ends many waits together */
#define REFRESH_PART	8	/* of a domain's places, for all refreshes */
#define PENDING_BIT	0x80000000U	/* of a timer's owner */

/* Memory of the pools is touched as it is used: most machines need little of it. */
static void
empty_pools(struct engine *e)
{
	TAILQ_INIT(&e->free_attempts);
	e->free_pending = NONE;
	for (uint32_t i = 0; i < e->index_size; i++)
		e->index[i] = NONE;
}

struct engine *
engine_new(const struct engine_host *host,
    const struct forward_settings *settings, struct cache *cache,
    struct upstreams *shared, monotime_t now)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->host = *host;
	e->settings = *settings;
	e->cache = cache;
	e->upstream = shared != NULL ? shared->upstream : e->own.upstream;
	if (shared == NULL) {
		forward_settings_place(&e->settings, NULL);
		upstreams_enter(&e->own, now, &e->settings, NULL);
	}
	engine_place_upstreams(e);
	e->domain = e->own_domain;
	e->random_used = RANDOM_OCTETS;
	assert(settings->limits.held <= USERS_MAX);
	e->pendings = settings->limits.held;
	e->attempts = e->pendings * ATTEMPTS_EACH + ATTEMPTS_OWN;
	e->index_size = e->pendings * 2 + 1;
	e->attempt = calloc(e->attempts, sizeof(*e->attempt));
	e->pending = calloc(e->pendings, sizeof(*e->pending));
	e->index = calloc(e->index_size, sizeof(*e->index));
	e->ids = calloc(PLACES, sizeof(*e->ids));
	if (e->attempt == NULL || e->pending == NULL || e->index == NULL ||
	    e->ids == NULL ||
	    timers_init(&e->timers, e->attempts + e->pendings) != 0) {
		engine_free(e);
		return NULL;
	}
	empty_pools(e);
	e->seed = engine_random_u64(e);
	e->users.seed = e->seed;
	return e;
}

static void
pass_clients(struct engine *e, struct pending *p)
{
	struct engine_client *client;

	while ((client = TAILQ_FIRST(&p->clients)) != NULL) {
		client_release(e, client);
		e->host.pass(e->host.arg, client);
	}
}

void
engine_free(struct engine *e)
{
	if (e == NULL)
		return;
	if (e->timers.heap != NULL && e->pending != NULL) {
		for (uint32_t i = 0; i < e->pendings; i++) {
			if (!e->pending[i].used)
				continue;
			pass_clients(e, &e->pending[i]);
			course_end(e, &e->pending[i]);
		}
		attempts_end_own(e);
	}
	timers_free(&e->timers);
	free(e->attempt);
	free(e->pending);
	free(e->index);
	free(e->ids);
	free(e);
}

/* Fills in what is asked for a client.  False: it is no question for us. */
static bool
read_client(struct engine_client *client)
{
	struct engine_end *end = client->end;
	size_t length;

	client->held = NONE;
	client->asked = &client->question;
	if (client->question.form != QUESTION_PLAIN &&
	    client->question.form != QUESTION_CHAOS)
		return false;
	if (client->chase == NULL)
		return true;
	length = chase_question(client->chase, &client->question, 0,
	    end->message);
	question_parse(&end->question, end->message, length);
	client->asked = &end->question;
	return end->question.form == QUESTION_PLAIN;
}

/* Its options are handed on.  False: the message cannot be read. */
static bool
read_options(const struct engine_client *client,
    struct message_options *options)
{
	struct message m;

	options->length = 0;
	if (!client->question.edns.present)
		return true;
	if (!message_read(&m, client->message, client->length))
		return false;
	message_options(options, &m);
	return true;
}

/* The place of its domain in the settings; negative: it is in none. */
static int
domain_of(const struct engine *e, const struct engine_client *client)
{
	return client->chase == NULL && client->generation != 0 &&
	    client->generation == e->generation ? (int)client->domain :
	    forward_settings_domain(&e->settings, &client->asked->name);
}

/* What is known of a client's question before it is asked. */
struct ask {
	struct engine_client *client;
	struct message_options options;
	uint32_t domain;		/* FORWARD_DOMAINS: none */
	bool kept;
	bool stale;			/* "entry" is a stale answer */
	struct cache_entry entry;
};

static struct pending *
begin(struct engine *e, monotime_t now, const struct ask *ask)
{
	const struct engine_client *client = ask->client;
	struct pending *p = pending_new(e, client->asked, ask->domain);

	if (p == NULL)
		return NULL;
	p->timer.owner |= PENDING_BIT;
	p->options = ask->options;
	p->kept = ask->kept;
	p->begun = now;
	p->generation = e->generation;
	if (ask->domain == FORWARD_DOMAINS)
		p->nameserver = client->nameserver;
	/*
	 * Where equal ones do not join, only the first is kept: else each port that
	 * they are asked from would be one more guess at what all others get.
	 */
	else if (pending_find(e, &p->asked, &p->options) != NULL)
		p->kept = false;
	else
		pending_share(e, p);
	if (ask->stale && e->settings.cache.stale == STALE_AFTER_WAIT)
		p->stale_at = monotime_add_ms(now,
		    e->settings.cache.stale_wait_ms);
	return p;
}

/*
 * Asks anew for what the cache has, without a client.  No user is charged for it,
 * so all refreshes together may take a part of one domain's places only.
 */
static void
refresh(struct engine *e, monotime_t now, const struct ask *ask)
{
	struct pending *p;

	if (e->refreshing >= e->settings.limits.domain / REFRESH_PART ||
	    e->under_way[ask->domain] >= e->settings.limits.domain ||
	    pending_find(e, ask->client->asked, &ask->options) != NULL)
		return;
	p = begin(e, now, ask);
	if (p == NULL)
		return;
	p->refresh = true;
	e->refreshing++;
	p->stale_at = MONOTIME_NEVER;
	course_begin(e, now, p);
}

/*
 * Answers from the cache if that is the thing to do.  A stale answer that comes
 * first, and one that is about to expire, are asked for anew besides.
 */
static bool
find_kept(struct engine *e, monotime_t now, struct ask *ask)
{
	struct engine_client *client = ask->client;
	bool due;

	if (!ask->kept || client->absent ||
	    !answer_find(e, now, client->asked, &ask->entry))
		return false;
	ask->stale = monotime_is_past(now, ask->entry.expires);
	due = ask->stale ? monotime_is_past(now, ask->entry.retry) :
	    cached_prefetch_due(&e->settings.cache, now, &ask->entry);
	if (ask->stale && due && e->settings.cache.stale != STALE_AT_ONCE)
		return false;
	if (due) {
		e->stats.prefetched += !ask->stale;
		cache_mark_prefetched(e->cache, &ask->entry);
		refresh(e, now, ask);
		if (!answer_find(e, now, client->asked, &ask->entry))
			return false;
	}
	return true;
}

static bool
ask_cache(struct engine *e, monotime_t now, struct ask *ask)
{
	const bool found = find_kept(e, now, ask);

	if (ask->kept)
		cache_count(e->cache, found ? &ask->entry : NULL);
	if (found)
		answer_found(e, now, ask->client, &ask->entry);
	return found;
}

/* Joins an equal question that is under way.  False: there is none. */
static bool
join(struct engine *e, monotime_t now, struct ask *ask)
{
	struct engine_client *client = ask->client;
	struct pending *p = ask->domain == FORWARD_DOMAINS ||
	    !e->settings.attempts.join ? NULL :
	    pending_find(e, client->asked, &ask->options);

	if (p == NULL)
		return false;
	if (p->stale_given &&
	    answer_find(e, now, client->asked, &ask->entry)) {
		answer_found(e, now, client, &ask->entry);
		return true;
	}
	e->stats.joined++;
	client_hold(e, client, p);
	/* What was begun to refresh an answer waits for no client's sake. */
	if (ask->stale && e->settings.cache.stale == STALE_AFTER_WAIT)
		course_join_stale(e, now, p);
	return true;
}

static void
ask_upstreams(struct engine *e, monotime_t now, struct ask *ask)
{
	struct engine_client *client = ask->client;
	const struct forward_domain *domain = ask->domain == FORWARD_DOMAINS ?
	    NULL : &e->settings.domain[ask->domain];
	struct pending *p = NULL;

	if (!clients_full(e, client->uid)) {
		if (join(e, now, ask))
			return;
		if (e->under_way[ask->domain] < e->settings.limits.domain)
			p = begin(e, now, ask);
	}
	if (p != NULL) {
		client_hold(e, client, p);
		course_begin(e, now, p);
	} else if (ask->stale &&
	    answer_find(e, now, client->asked, &ask->entry)) {
		answer_found(e, now, client, &ask->entry);
	} else {
		answer_full(e, client, domain);
	}
}

static void
ask_for(struct engine *e, monotime_t now, struct ask *ask)
{
	struct engine_client *client = ask->client;
	int domain;

	e->stats.asked++;
	client->since = now;
	if (!read_client(client) || !read_options(client, &ask->options)) {
		client->domain = FORWARD_DOMAINS;
		e->stats.passed++;
		e->host.pass(e->host.arg, client);
		return;
	}
	if (probe_came_back(e, now, client->asked)) {
		e->host.drop(e->host.arg, client);
		return;
	}
	domain = domain_of(e, client);
	client->domain = FORWARD_DOMAINS;
	if (domain < 0 && client->chase == NULL) {
		e->stats.passed++;
		e->host.pass(e->host.arg, client);
		return;
	}
	if (domain >= 0) {
		ask->domain = client->domain = (uint32_t)domain;
		ask->kept = e->cache != NULL &&
		    e->settings.domain[domain].cache &&
		    cached_is_common(client->asked, &ask->options);
	}
	domain_count(e, client->domain, DOMAIN_QUESTIONS, 1);
	if (!ask_cache(e, now, ask))
		ask_upstreams(e, now, ask);
}

void
engine_ask(struct engine *e, monotime_t now, struct engine_client *client)
{
	struct ask ask = { .client = client, .domain = FORWARD_DOMAINS };

	ask_for(e, now, &ask);
}

void
engine_look_for_loops(struct engine *e, monotime_t now)
{
	for (uint32_t i = 0; i < e->settings.upstreams; i++)
		if (e->settings.health.loops)
			e->upstream[e->settings.upstream[i].slot].loop_at = now;
}

void
engine_reply(struct engine *e, monotime_t now, uint32_t attempt,
    const uint8_t *octets, size_t length)
{
	struct attempt *a = attempt_of(e, attempt);

	if (a == NULL)
		return;
	if (a->kind == ATTEMPT_QUESTION) {
		course_reply(e, now, a, octets, length);
	} else if (a->kind != ATTEMPT_MEASURE) {
		probe_reply(e, now, a, octets, length);
	} else if (length >= DNS_HEADER && wire_load_u16(octets) == a->id) {
		e->stats.late++;
		attempt_replied(e, now, a);
		attempt_end(e, a);
	}
}

static void
attempt_over(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	if (a->kind == ATTEMPT_MEASURE) {
		attempt_lost(e, now, a, error);
		attempt_end(e, a);
	} else {
		probe_lost(e, now, a, error);
	}
}

void
engine_error(struct engine *e, monotime_t now, uint32_t attempt, int error)
{
	struct attempt *a = attempt_of(e, attempt);

	if (a == NULL)
		return;
	if (a->kind == ATTEMPT_QUESTION)
		course_error(e, now, a, error);
	else
		attempt_over(e, now, a, error);
}

void
engine_unsent(struct engine *e, monotime_t now, uint32_t attempt, int error)
{
	struct attempt *a = attempt_of(e, attempt);

	if (a != NULL && a->kind == ATTEMPT_QUESTION)
		course_unsent(e, now, a, error);
	else if (a != NULL)
		attempt_over(e, now, a, error);
}

monotime_t
engine_next(const struct engine *e)
{
	const struct timer *first = timers_first(&e->timers);
	monotime_t next = e->host.probe == NULL ? probes_next(e) :
	    MONOTIME_NEVER;

	if (first != NULL && (!monotime_is_set(next) ||
	    first->at.ns < next.ns))
		next = first->at;
	return next;
}

void
engine_tick(struct engine *e, monotime_t now)
{
	struct timer *timer;

	for (int i = 0; i < DUE_AT_ONCE &&
	    (timer = timers_first(&e->timers)) != NULL &&
	    monotime_is_past(now, timer->at); i++) {
		struct attempt *a;

		if ((timer->owner & PENDING_BIT) != 0) {
			course_timer(e, now,
			    &e->pending[timer->owner & ~PENDING_BIT]);
			continue;
		}
		a = &e->attempt[timer->owner];
		if (a->kind == ATTEMPT_QUESTION)
			course_late(e, now, a);
		else
			attempt_over(e, now, a, 0);
	}
	if (e->host.probe == NULL)
		probes_send(e, now);
}

void
engine_use_cache(struct engine *e, struct cache *cache, uint64_t generation)
{
	e->cache = cache;
	e->generation = generation;
}

const struct forward_settings *
engine_settings(const struct engine *e)
{
	return &e->settings;
}

const struct engine_stats *
engine_stats(const struct engine *e)
{
	return &e->stats;
}

struct upstream *
engine_upstream(struct engine *e, uint32_t index)
{
	assert(index < FORWARD_UPSTREAMS);
	return &e->upstream[e->settings.upstream[index].slot];
}

engine_domain_counters *
engine_domain(struct engine *e, uint32_t index)
{
	assert(index < FORWARD_DOMAINS);
	return &e->domain[index];
}

void
engine_count_in(struct engine *e, engine_domain_counters *domains)
{
	for (uint32_t i = 0; i < FORWARD_DOMAINS; i++)
		domains[i][DOMAIN_WAITING] = 0;
	e->domain = domains;
}
