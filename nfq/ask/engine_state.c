/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine_state.h"

#include <assert.h>
#include <string.h>

#include <xxhash.h>

void
engine_random(struct engine *e, void *octets, size_t length)
{
	assert(length <= RANDOM_OCTETS);
	if (RANDOM_OCTETS - e->random_used < length) {
		e->host.random(e->host.arg, e->random, RANDOM_OCTETS);
		e->random_used = 0;
	}
	memcpy(octets, e->random + e->random_used, length);
	explicit_bzero(e->random + e->random_used, length);
	e->random_used += length;
}

uint64_t
engine_random_u64(struct engine *e)
{
	uint64_t number;

	engine_random(e, &number, sizeof(number));
	return number;
}

/* What makes two questions equal beside their names. */
static uint32_t
form_of(const struct question *q)
{
	return (uint32_t)q->type << 16 | (uint32_t)(q->class & 0xff) << 8 |
	    (uint32_t)q->edns.dnssec_ok << 2 |
	    (uint32_t)((q->flags & DNS_FLAG_CD) != 0) << 1 |
	    (uint32_t)((q->flags & DNS_FLAG_RD) != 0);
}

static uint32_t *
bucket_of(struct engine *e, const struct question *q,
    const struct message_options *options)
{
	uint64_t hash = XXH3_64bits_withSeed(q->name.octets, q->name.length,
	    e->seed ^ form_of(q));

	if (options->length > 0)
		hash = XXH3_64bits_withSeed(options->octets, options->length,
		    hash);
	return &e->index[hash % e->index_size];
}

struct pending *
pending_new(struct engine *e, const struct question *asked, uint32_t domain)
{
	struct pending *p;

	if (e->free_pending == NONE && e->pendings_used == e->pendings)
		return NULL;
	if (e->free_pending == NONE) {
		p = &e->pending[e->pendings_used++];
	} else {
		p = &e->pending[e->free_pending];
		e->free_pending = p->next;
	}
	memset(p, 0, offsetof(struct pending, options));
	p->options.length = 0;
	p->used = true;
	p->asked = *asked;
	p->asked.wire = NULL;
	p->asked.wire_length = 0;
	p->timer.owner = pending_number(e, p);
	TAILQ_INIT(&p->clients);
	TAILQ_INIT(&p->attempts);
	p->latest = NONE;
	p->servers = p->done = p->down = p->plain = p->stream = p->sent = 0;
	memset(p->order, 0, sizeof(p->order));
	memset(p->tries, 0, sizeof(p->tries));
	p->unsent = false;
	p->again = 0;
	p->stale_at = p->again_at = MONOTIME_NEVER;
	p->last_length = 0;
	p->next = NONE;
	p->domain = domain;
	e->under_way[domain]++;
	e->stats.questions++;
	return p;
}

uint32_t
pending_number(const struct engine *e, const struct pending *p)
{
	return (uint32_t)(p - e->pending);
}

void
pending_free(struct engine *e, struct pending *p)
{
	assert(TAILQ_EMPTY(&p->clients) && TAILQ_EMPTY(&p->attempts));
	if (p->shared) {
		uint32_t *at = bucket_of(e, &p->asked, &p->options);

		while (*at != pending_number(e, p))
			at = &e->pending[*at].next;
		*at = p->next;
	}
	timer_clear(&e->timers, &p->timer);
	e->under_way[p->domain]--;
	e->refreshing -= p->refresh;
	e->stats.questions--;
	p->used = false;
	p->next = e->free_pending;
	e->free_pending = pending_number(e, p);
}

struct pending *
pending_find(struct engine *e, const struct question *asked,
    const struct message_options *options)
{
	for (uint32_t i = *bucket_of(e, asked, options); i != NONE;
	    i = e->pending[i].next) {
		struct pending *p = &e->pending[i];

		if (form_of(&p->asked) == form_of(asked) &&
		    p->asked.class == asked->class &&
		    name_equal(&p->asked.name, &asked->name) &&
		    p->options.length == options->length &&
		    memcmp(p->options.octets, options->octets,
		        options->length) == 0)
			return p;
	}
	return NULL;
}

void
pending_share(struct engine *e, struct pending *p)
{
	uint32_t *at = bucket_of(e, &p->asked, &p->options);

	p->shared = true;
	p->next = *at;
	*at = pending_number(e, p);
}

bool
clients_full(const struct engine *e, uint32_t uid)
{
	return !forward_has_room(users_questions(&e->users, uid), e->stats.held,
	    e->settings.limits.held);
}

void
client_hold(struct engine *e, struct engine_client *client, struct pending *p)
{
	TAILQ_INSERT_TAIL(&p->clients, client, entry);
	client->held = pending_number(e, p);
	e->stats.held++;
	domain_count(e, client->domain, DOMAIN_WAITING, 1);
	users_add(&e->users, client->uid);
}

void
client_release(struct engine *e, struct engine_client *client)
{
	if (client->held == NONE)
		return;
	TAILQ_REMOVE(&e->pending[client->held].clients, client, entry);
	client->held = NONE;
	e->stats.held--;
	domain_count(e, client->domain, DOMAIN_WAITING, -1);
	users_end(&e->users, client->uid);
}

const struct forward_domain *
pending_domain(const struct engine *e, const struct pending *p)
{
	static const struct forward_domain none = {
		.upstreams = 1, .select = SELECT_ORDERED, .fallback = FALLBACK_NONE,
	};

	return p->domain < FORWARD_DOMAINS ? &e->settings.domain[p->domain] :
	    &none;
}
