/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New settings: domains get other indices, questions go on. */
#include <string.h>

#include "nfq/ask/engine_state.h"

void
engine_place_upstreams(struct engine *e)
{
	for (uint32_t slot = 0; slot < FORWARD_SLOTS; slot++)
		e->place_of[slot] = NONE;
	for (uint32_t i = 0; i < e->settings.upstreams; i++)
		e->place_of[e->settings.upstream[i].slot] = i;
}

/* The slots whose upstreams stay. */
static void
find_same(const struct engine *e, const struct forward_settings *old,
    bool same[static UPSTREAM_PLACES])
{
	for (uint32_t slot = 0; slot < UPSTREAM_PLACES; slot++)
		same[slot] = slot == ADDRESSED || slot == REMOVED;
	for (uint32_t i = 0; i < old->upstreams; i++) {
		const uint32_t slot = old->upstream[i].slot;

		same[slot] = e->place_of[slot] != NONE &&
		    forward_upstream_same(&old->upstream[i],
		    upstream_of(e, slot));
	}
}

/* All are looked at for loops again. */
static void
look_again(struct engine *e, monotime_t now)
{
	const bool loops = e->settings.health.loops != 0;

	for (uint32_t i = 0; i < e->settings.upstreams; i++) {
		struct upstream *up =
		    &e->upstream[e->settings.upstream[i].slot];

		up->loop_at = loops ? now : MONOTIME_NEVER;
		if (!loops && up->state == UPSTREAM_LOOPING)
			up->state = UPSTREAM_UP;
	}
}

static uint32_t
same_domain(const struct forward_settings *settings,
    const struct forward_domain *domain)
{
	for (uint32_t i = 0; i < settings->domains; i++)
		if (memcmp(settings->domain[i].name, domain->name,
		    sizeof(domain->name)) == 0)
			return i;
	return FORWARD_DOMAINS;
}

/* Whether both are answered by the same servers, in whatever order. */
static bool
same_servers(const struct forward_settings *a, const struct forward_domain *da,
    const struct forward_settings *b, const struct forward_domain *db)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < da->upstreams; i++)
		for (uint32_t j = 0; j < db->upstreams; j++)
			found += forward_upstream_same(
			    &a->upstream[da->upstream[i]],
			    &b->upstream[db->upstream[j]]);
	return da->upstreams == db->upstreams && found == da->upstreams;
}

/* Flushes the domains of one that are not the same in the other. */
static void
flush_changed(struct cache *cache, const struct forward_settings *one,
    const struct forward_settings *other)
{
	for (uint32_t i = 0; i < one->domains; i++) {
		const struct forward_domain *domain = &one->domain[i];
		uint32_t j = same_domain(other, domain);
		struct dns_name name;

		if (j < FORWARD_DOMAINS &&
		    same_servers(one, domain, other, &other->domain[j]))
			continue;
		if (name_read_lower(&name, domain->name, FORWARD_NAME) == 0)
			(void)cache_flush(cache, &name, true);
	}
}

static uint32_t
new_domain(const struct engine *e, const struct forward_settings *old,
    uint32_t domain)
{
	return domain == FORWARD_DOMAINS ? domain :
	    same_domain(&e->settings, &old->domain[domain]);
}

static void
move_pending(struct engine *e, struct pending *p,
    const struct forward_settings *old,
    const bool same[static UPSTREAM_PLACES])
{
	struct engine_client *client;

	/* Those of a round before, too: they have attempts yet. */
	for (uint32_t i = 0; i < FORWARD_PER_DOMAIN; i++) {
		if (!same[p->order[i]])
			p->order[i] = REMOVED;
		if (p->order[i] == REMOVED)
			p->done |= 1U << i;
	}
	if (p->domain < FORWARD_DOMAINS) {
		p->domain = new_domain(e, old, p->domain);
		/* What is gone is not asked for any more. */
		if (p->domain == FORWARD_DOMAINS)
			p->servers = 0;
	}
	e->under_way[p->domain]++;
	TAILQ_FOREACH(client, &p->clients, entry) {
		client->domain = new_domain(e, old, client->domain);
		domain_count(e, client->domain, DOMAIN_WAITING, 1);
	}
}

/* Those of an upstream that is gone go on; nothing is learnt of who has its slot. */
static void
move_attempts(struct engine *e, const bool same[static UPSTREAM_PLACES])
{
	for (uint32_t i = 0; i < e->attempts_used; i++) {
		struct attempt *a = &e->attempt[i];

		if (a->kind == ATTEMPT_FREE || same[a->upstream])
			continue;
		if (a->transport != FORWARD_UDP)
			attempt_flip_id(e, a->upstream, a->id);
		a->upstream = REMOVED;
	}
}

void
engine_reload(struct engine *e, monotime_t now,
    const struct forward_settings *settings, struct cache *cache)
{
	struct forward_settings old = e->settings;
	bool same[UPSTREAM_PLACES];
	uint64_t before[FORWARD_DOMAINS][DOMAIN_COUNTERS];

	attempts_end_own(e);
	e->settings = *settings;
	if (e->upstream == e->own.upstream) {
		forward_settings_place(&e->settings, &old);
		upstreams_enter(&e->own, now, &e->settings, &old);
	}
	engine_place_upstreams(e);
	find_same(e, &old, same);
	if (e->host.probe == NULL)
		look_again(e, now);
	e->cache = cache;
	move_attempts(e, same);
	memset(e->under_way, 0, sizeof(e->under_way));
	/* Counters of domains that stay; those who wait are counted anew. */
	for (uint32_t i = 0; i < FORWARD_DOMAINS; i++)
		for (size_t n = 0; n < DOMAIN_COUNTERS; n++) {
			before[i][n] = e->domain[i][n];
			if (e->domain == e->own_domain || n == DOMAIN_WAITING)
				e->domain[i][n] = 0;
		}
	for (uint32_t i = 0; e->domain == e->own_domain && i < old.domains;
	    i++) {
		const uint32_t to = new_domain(e, &old, i);

		for (size_t n = 0; to < FORWARD_DOMAINS && n < DOMAIN_COUNTERS;
		    n++)
			if (n != DOMAIN_WAITING)
				e->domain[to][n] = before[i][n];
	}
	for (uint32_t i = 0; i < e->pendings_used; i++)
		if (e->pending[i].used)
			move_pending(e, &e->pending[i], &old, same);
	if (cache == NULL || e->host.probe != NULL)
		return;
	flush_changed(cache, settings, &old);
	flush_changed(cache, &old, settings);
}
