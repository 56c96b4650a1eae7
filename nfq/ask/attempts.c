/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/engine_state.h"

#include <string.h>

#define AGAIN_MS	1000	/* also for a stream: a handshake comes first */
#define ID_TRIES	32
#define PRESSED		16	/* so many times this, and all places are taken */

/* Bit of an id among those in use on the streams to an upstream. */
static bool
id_used(const struct engine *e, uint32_t upstream, uint16_t id)
{
	return (e->ids[upstream][id / 8] >> id % 8 & 1) != 0;
}

void
attempt_flip_id(struct engine *e, uint32_t upstream, uint16_t id)
{
	if (upstream != REMOVED)
		e->ids[upstream][id / 8] ^= (uint8_t)(1 << id % 8);
}

/* A random id; on a stream, none that is in use. */
static bool
choose_id(struct engine *e, struct attempt *a)
{
	for (int i = 0; i < ID_TRIES; i++) {
		engine_random(e, &a->id, sizeof(a->id));
		if (a->transport == FORWARD_UDP)
			return true;
		if (!id_used(e, a->upstream, a->id)) {
			attempt_flip_id(e, a->upstream, a->id);
			return true;
		}
	}
	return false;
}

/* Back to the free ones, without a word to the host. */
static void
release(struct engine *e, struct attempt *a)
{
	if (a->transport != FORWARD_UDP)
		attempt_flip_id(e, a->upstream, a->id);
	timer_clear(&e->timers, &a->timer);
	if (a->kind == ATTEMPT_QUESTION)
		TAILQ_REMOVE(&e->pending[a->of].attempts, a, entry);
	a->kind = ATTEMPT_FREE;
	TAILQ_INSERT_HEAD(&e->free_attempts, a, entry);
}

/* Takes a free attempt, with an id. */
static struct attempt *
take(struct engine *e, enum attempt_kind kind, uint32_t upstream,
    enum forward_transport transport)
{
	struct attempt *a = TAILQ_FIRST(&e->free_attempts);

	if (a == NULL && e->attempts_used == e->attempts)
		return NULL;
	if (a == NULL) {
		a = &e->attempt[e->attempts_used];
		a->timer.owner = e->attempts_used++;
		TAILQ_INSERT_HEAD(&e->free_attempts, a, entry);
	}
	a->upstream = upstream;
	a->transport = transport;
	if (!choose_id(e, a))
		return NULL;
	TAILQ_REMOVE(&e->free_attempts, a, entry);
	a->kind = kind;
	a->edns = a->lost = a->broken = a->mixed = false;
	a->place = 0;
	a->mismatched = 0;
	return a;
}

static bool
send_it(struct engine *e, monotime_t now, struct attempt *a,
    const struct forward_upstream *to, struct message_ask *ask,
    uint32_t wait_ms)
{
	uint8_t octets[MESSAGE_ASK_MAX];
	uint32_t number = (uint32_t)(a - e->attempt);
	struct upstream *up = &e->upstream[a->upstream];
	size_t length;
	int error;

	if ((to->mix_case || upstream_is_forged(up, now)) &&
	    a->transport == FORWARD_UDP) {
		a->mixed = true;
		engine_random(e, a->mask, sizeof(a->mask));
		ask->mask = a->mask;
	}
	a->edns = ask->edns;
	ask->pad = a->transport == FORWARD_TLS;
	a->sent = now;
	length = message_ask(ask, a->id, octets);
	up->sent++;
	up->sent_tcp += a->transport == FORWARD_TCP;
	up->sent_tls += a->transport == FORWARD_TLS;
	error = e->host.send(e->host.arg, number, to, a->transport, octets,
	    length);
	if (error != 0) {
		upstream_trouble(up, now, TROUBLE_NETWORK, (uint32_t)-error);
		release(e, a);
		return false;
	}
	e->stats.attempts++;
	timer_set(&e->timers, &a->timer, monotime_add_ms(now, wait_ms));
	return true;
}

static bool
is_auto(const struct engine *e, uint32_t upstream)
{
	return upstream < FORWARD_SLOTS &&
	    upstream_of(e, upstream)->transport == FORWARD_AUTO;
}

static enum forward_transport
transport_for(const struct engine *e, monotime_t now, const struct pending *p,
    const struct forward_upstream *to, uint32_t place)
{
	const uint32_t server = p->order[place];

	if (to->transport != FORWARD_AUTO)
		return to->transport;
	return (p->stream >> place & 1) != 0 || (is_auto(e, server) &&
	    upstream_over_tcp(&e->upstream[server], now,
	    p->tries[place] > 0)) ? FORWARD_TCP : FORWARD_UDP;
}

/* Whether another server would be asked before this one is asked again. */
static bool
has_other(const struct pending *p, uint32_t place)
{
	for (uint32_t i = 0; i < p->servers; i++)
		if (i != place && (p->done >> i & 1) == 0 &&
		    p->tries[i] <= p->tries[place])
			return true;
	return false;
}

/*
 * A server that has just gone silent makes questions pile up before the first of
 * them is lost: with a part of the room taken, less is waited for.
 */
static bool
is_pressed(const struct engine *e, const struct pending *p)
{
	return e->under_way[p->domain] > e->settings.limits.domain / PRESSED;
}

/*
 * The same server is not asked again after its usual time, as another one is: it
 * would only have to do the same work twice.
 */
static uint32_t
wait_for(const struct engine *e, const struct pending *p,
    const struct attempt *a, uint32_t place)
{
	const struct forward_attempt_settings *settings = &e->settings.attempts;
	uint32_t again = settings->most == 0 ? AGAIN_MS :
	    settings->budget_ms / settings->most;

	if (settings->wait_ms != 0)
		return settings->wait_ms;
	if (a->transport != FORWARD_TCP && has_other(p, place))
		return upstream_wait_ms(&e->upstream[a->upstream], settings,
		    is_pressed(e, p));
	return again < AGAIN_MS ? again : AGAIN_MS;
}

bool
attempt_ask(struct engine *e, monotime_t now, struct pending *p,
    uint32_t place)
{
	uint32_t server = p->order[place];
	const struct forward_upstream *to;
	struct attempt *a;
	struct message_ask ask = {
		.question = &p->asked, .options = &p->options,
		.edns = (p->plain >> place & 1) == 0,
		.ad = e->settings.attempts.pass_ad,
	};
	uint32_t wait;

	if (server == REMOVED)
		return false;
	to = server == ADDRESSED ? &p->nameserver : upstream_of(e, server);
	a = take(e, ATTEMPT_QUESTION, server, transport_for(e, now, p, to,
	    place));
	if (a == NULL)
		return false;
	a->of = pending_number(e, p);
	a->place = place;
	TAILQ_INSERT_TAIL(&p->attempts, a, entry);
	wait = wait_for(e, p, a, place);
	p->tries[place]++;
	if (!send_it(e, now, a, to, &ask, wait))
		return false;
	p->latest = (uint32_t)(a - e->attempt);
	return true;
}

/* One that is silent may be so over UDP alone. */
static bool
probe_by_tcp(const struct upstream *up)
{
	return up->state == UPSTREAM_DOWN && up->probes % 2 == 0;
}

bool
attempt_own(struct engine *e, monotime_t now, enum attempt_kind kind,
    uint32_t upstream, const struct question *question, uint32_t of,
    uint32_t wait_ms)
{
	const struct forward_upstream *to = upstream_of(e, upstream);
	struct message_ask ask = { .question = question };
	const bool tcp = kind == ATTEMPT_PROBE ?
	    probe_by_tcp(&e->upstream[upstream]) :
	    upstream_over_tcp(&e->upstream[upstream], now, false);
	struct attempt *a = take(e, kind, upstream,
	    to->transport != FORWARD_AUTO ? to->transport :
	    tcp ? FORWARD_TCP : FORWARD_UDP);

	if (a == NULL)
		return false;
	/* Else its length would tell it from a client's question. */
	ask.edns = a->transport == FORWARD_TLS;
	a->of = of;
	return send_it(e, now, a, to, &ask, wait_ms);
}

void
attempt_end(struct engine *e, struct attempt *a)
{
	e->host.close(e->host.arg, (uint32_t)(a - e->attempt));
	release(e, a);
}

void
attempts_end(struct engine *e, struct pending *p)
{
	struct attempt *a;

	while ((a = TAILQ_FIRST(&p->attempts)) != NULL) {
		if (a->lost) {
			attempt_end(e, a);
			continue;
		}
		TAILQ_REMOVE(&p->attempts, a, entry);
		a->kind = ATTEMPT_MEASURE;
	}
}

void
attempts_end_own(struct engine *e)
{
	for (uint32_t i = 0; i < e->attempts; i++)
		if (e->attempt[i].kind != ATTEMPT_FREE &&
		    e->attempt[i].kind != ATTEMPT_QUESTION)
			attempt_end(e, &e->attempt[i]);
}

static bool
is_known(const struct attempt *a)
{
	return a->upstream < FORWARD_SLOTS;
}

void
attempt_replied(struct engine *e, monotime_t now, const struct attempt *a)
{
	int64_t us = (now.ns - a->sent.ns) / 1000;
	struct upstream *up = &e->upstream[a->upstream];

	if (!is_known(a))
		return;
	if (a->kind == ATTEMPT_PROBE && a->transport == FORWARD_TCP &&
	    is_auto(e, a->upstream))
		upstream_tcp_probe_replied(up, now);
	/* What a handshake takes is not the server's time; TLS's are rare. */
	if (a->transport == FORWARD_TCP && up->srtt_us != 0)
		us = up->srtt_us;
	if (us < 0)		/* it was sent after the round's time was taken */
		us = 0;
	upstream_replied(up, now, us > INT32_MAX ? INT32_MAX : (uint32_t)us);
}

void
attempt_lost(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	struct upstream *up = &e->upstream[a->upstream];

	if (!a->lost || error != 0)
		upstream_trouble(up, now, error == 0 ?
		    TROUBLE_TIMEOUT : TROUBLE_NETWORK, (uint32_t)error);
	if (a->transport == FORWARD_TCP && is_auto(e, a->upstream))
		upstream_tcp_lost(up);
	if (!a->lost && is_known(a) && up->state != UPSTREAM_LOOPING) {
		upstream_lost(up, now, &e->settings.health);
		if (e->host.probe != NULL)
			e->host.probe(e->host.arg);
	}
	a->lost = true;
	timer_clear(&e->timers, &a->timer);
}

void
attempt_unsent(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	upstream_trouble(&e->upstream[a->upstream], now, TROUBLE_NETWORK,
	    (uint32_t)error);
	e->stats.attempts--;
	attempt_end(e, a);
}

struct attempt *
attempt_of(struct engine *e, uint32_t number)
{
	return number < e->attempts &&
	    e->attempt[number].kind != ATTEMPT_FREE ?
	    &e->attempt[number] : NULL;
}
