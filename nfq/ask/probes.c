/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine_state.h"

#include <string.h>

#include "resolver/dns/rr.h"

#define LOOP_DIGITS	16
#define LOOP_LABEL	"\12nfdns-loop"
#define LOOP_PREFIX	(1 + LOOP_DIGITS + sizeof(LOOP_LABEL) - 1)
#define LOOP_WAIT_MS	2000

static struct question
own_question(const uint8_t *name, uint16_t type, bool rd)
{
	struct question q = { .type = type, .class = CLASS_IN,
		.flags = rd ? DNS_FLAG_RD : 0 };

	if (name_read_lower(&q.name, name, FORWARD_NAME) != 0)
		q.name = (struct dns_name){ .length = 1 };
	return q;
}

static void
probe_health(struct engine *e, monotime_t now, uint32_t upstream)
{
	const struct forward_health_settings *health = &e->settings.health;
	const struct question q = own_question(health->probe_name, TYPE_NS,
	    health->probe_rd);

	upstream_probed(&e->upstream[upstream], now, health);
	if (!attempt_own(e, now, ATTEMPT_PROBE, upstream, &q, upstream,
	    health->probe_wait_ms))
		upstream_lost(&e->upstream[upstream], now, health);
}

/*
 * TOKEN.nfdns-loop.DOMAIN, so that it goes the way of the domain's questions, which
 * a server may ask of others than the rest; for all names TOKEN.nfdns-loop.test
 * (RFC 6761).  False: the domain's name is too long.
 */
static bool
loop_name(uint64_t token, const uint8_t domain[static FORWARD_NAME],
    uint8_t out[static FORWARD_NAME])
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *zone = domain[0] == 0 ? (const uint8_t *)"\4test" :
	    domain;
	struct dns_name rest;
	size_t n = 0;

	if (name_read_lower(&rest, zone, FORWARD_NAME - LOOP_PREFIX) != 0 ||
	    rest.length > NAME_MAX_OCTETS - LOOP_PREFIX)
		return false;
	out[n++] = LOOP_DIGITS;
	for (unsigned int i = LOOP_DIGITS; i-- > 0; )
		out[n++] = (uint8_t)digits[token >> 4 * i & 0xf];
	memcpy(out + n, LOOP_LABEL, sizeof(LOOP_LABEL) - 1);
	memcpy(out + LOOP_PREFIX, rest.octets, rest.length);
	return true;
}

static bool
asks(const struct forward_domain *domain, uint32_t place)
{
	for (uint32_t i = 0; i < domain->upstreams; i++)
		if (domain->upstream[i] == place)
			return true;
	return false;
}

/* One for each domain that asks it. */
static void
probe_loop(struct engine *e, monotime_t now, uint32_t upstream)
{
	uint64_t token = engine_random_u64(e) | 1;	/* never 0: none */
	uint8_t name[FORWARD_NAME] = { 0 };
	uint32_t sent = 0;

	/* Another thread may see one come back before the next is sent. */
	upstream_loop_probing(&e->upstream[upstream], now, token);
	for (uint32_t i = 0; i < e->settings.domains; i++) {
		const struct forward_domain *domain = &e->settings.domain[i];
		struct question q;

		if (!asks(domain, e->place_of[upstream]) ||
		    !loop_name(token, domain->name, name))
			continue;
		q = own_question(name, TYPE_TXT, true);
		sent += attempt_own(e, now, ATTEMPT_LOOP, upstream, &q, i,
		    LOOP_WAIT_MS);
	}
	upstream_loop_probed(&e->upstream[upstream], now, sent,
	    &e->settings.health);
}

void
probes_send(struct engine *e, monotime_t now)
{
	for (uint32_t i = 0; i < e->settings.upstreams; i++) {
		const uint32_t slot = e->settings.upstream[i].slot;
		const struct upstream *up = &e->upstream[slot];

		if (monotime_is_due(now, up->probe_at))
			probe_health(e, now, slot);
		if (monotime_is_due(now, up->loop_at))
			probe_loop(e, now, slot);
	}
}

static void
take_sooner(monotime_t *next, monotime_t at)
{
	if (monotime_is_set(at) &&
	    (!monotime_is_set(*next) || at.ns < next->ns))
		*next = at;
}

monotime_t
probes_next(const struct engine *e)
{
	monotime_t next = MONOTIME_NEVER;

	for (uint32_t i = 0; i < e->settings.upstreams; i++) {
		const struct upstream *up =
		    &e->upstream[e->settings.upstream[i].slot];

		take_sooner(&next, up->probe_at);
		take_sooner(&next, up->loop_at);
	}
	return next;
}

static struct question
question_of(const struct engine *e, const struct attempt *a)
{
	uint8_t name[FORWARD_NAME] = { 0 };

	if (a->kind != ATTEMPT_LOOP)
		return own_question(e->settings.health.probe_name, TYPE_NS,
		    e->settings.health.probe_rd);
	(void)loop_name(e->upstream[a->upstream].loop_token,
	    e->settings.domain[a->of].name, name);
	return own_question(name, TYPE_TXT, true);
}

/* A loop probe of an earlier look: it has another token, and nobody waits. */
static bool
is_outdated(const struct engine *e, const struct attempt *a)
{
	const monotime_t sent = e->upstream[a->upstream].loop_sent;

	return a->kind == ATTEMPT_LOOP && a->upstream < FORWARD_SLOTS &&
	    a->sent.ns < sent.ns;
}

void
probe_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length)
{
	const struct question q = question_of(e, a);
	struct message m;

	if (is_outdated(e, a)) {
		attempt_end(e, a);
		return;
	}
	if (message_fit(&m, &q, a->id, a->mixed ? a->mask : NULL, octets,
	    length) != FIT_ANSWER) {
		e->stats.mismatched++;
		e->upstream[a->upstream].mismatched++;
		return;
	}
	attempt_replied(e, now, a);
	if (a->kind == ATTEMPT_LOOP && a->upstream < FORWARD_SLOTS)
		upstream_loop_over(&e->upstream[a->upstream], now);
	attempt_end(e, a);
}

void
probe_lost(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	if (a->kind != ATTEMPT_LOOP)
		attempt_lost(e, now, a, error);
	else if (a->upstream < FORWARD_SLOTS && !is_outdated(e, a))
		upstream_loop_over(&e->upstream[a->upstream], now);
	attempt_end(e, a);
}

/* The token of a name of loop_name(); 0: it is none. */
static uint64_t
token_of(const struct dns_name *name)
{
	uint64_t token = 0;

	if (name->length <= LOOP_PREFIX || name->octets[0] != LOOP_DIGITS ||
	    memcmp(name->octets + 1 + LOOP_DIGITS, LOOP_LABEL,
	    sizeof(LOOP_LABEL) - 1) != 0)
		return 0;
	for (unsigned int i = 1; i <= LOOP_DIGITS; i++) {
		const uint8_t c = name->octets[i];

		if (c >= '0' && c <= '9')
			token = token << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			token = token << 4 | (uint64_t)(c - 'a' + 10);
		else
			return 0;
	}
	return token;
}

bool
probe_came_back(struct engine *e, monotime_t now,
    const struct question *question)
{
	uint64_t token;
	bool found = false;

	if (question->type != TYPE_TXT ||
	    (token = token_of(&question->name)) == 0)
		return false;
	for (uint32_t i = 0; i < e->settings.upstreams; i++) {
		struct upstream *up =
		    &e->upstream[e->settings.upstream[i].slot];

		if (up->loop_token != token)
			continue;
		upstream_looped(up, now, &e->settings.health);
		found = true;
	}
	e->stats.loops += found;
	return found;
}
