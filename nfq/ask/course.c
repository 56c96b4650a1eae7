/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server is asked; when its reply is late or a failure, the next one is, and
 * all attempts stay open: whichever is answered first counts.  If nothing can be sent
 * to any of them, all are tried again for a moment.  A question ends
 * with an answer, or when every server has failed, or when its time is over;
 * then its domain's fallback, a stale answer, the last failed reply and SERVFAIL
 * are tried in this order.
 */
#include "nfq/ask/engine_state.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "resolver/dns/rr.h"

#define BROKEN_MS	200
#define UNSENT_MS	50	/* before servers are tried again that could not be asked */
#define UNSENT_TIMES	10
#define MISMATCHES_MAX	16	/* of one attempt */

/* The server that was asked least, in their order; NONE: all were often enough. */
static uint32_t
next_place(const struct engine *e, const struct pending *p)
{
	const struct forward_attempt_settings *settings = &e->settings.attempts;
	uint32_t best = NONE;

	if (settings->most != 0 && p->sent >= settings->most)
		return NONE;
	for (uint32_t i = 0; i < p->servers; i++) {
		uint32_t most = (p->down >> i & 1) != 0 ? 1 :
		    settings->per_server;

		if ((p->done >> i & 1) == 0 && p->tries[i] < most &&
		    (best == NONE || p->tries[i] < p->tries[best]))
			best = i;
	}
	return best;
}

/* Sends the next attempt.  False: there is none. */
static bool
next_attempt(struct engine *e, monotime_t now, struct pending *p)
{
	uint32_t place;

	while ((place = next_place(e, p)) != NONE) {
		p->sent++;
		if (attempt_ask(e, now, p, place))
			return true;
		p->done |= 1U << place;
		p->network_error = p->unsent = true;
	}
	return false;
}

/* Sometimes one more server is asked, so that its speed is known. */
static void
explore(struct engine *e, monotime_t now, struct pending *p)
{
	uint32_t latest = p->latest, place;

	if (pending_domain(e, p)->select != SELECT_FASTEST || p->servers < 2 ||
	    engine_random_u64(e) % 100 >= e->settings.attempts.explore)
		return;
	place = 1 + (uint32_t)(engine_random_u64(e) % (p->servers - 1));
	if (e->upstream[p->order[place]].state == UPSTREAM_UP)
		(void)attempt_ask(e, now, p, place);
	p->latest = latest;
}

static void
set_timer(struct engine *e, struct pending *p)
{
	timer_set(&e->timers, &p->timer, monotime_first(p->deadline,
	    monotime_first(p->stale_at, p->again_at)));
}

void
course_join_stale(struct engine *e, monotime_t now, struct pending *p)
{
	if (monotime_is_set(p->stale_at))
		return;
	p->stale_at = monotime_add_ms(now, e->settings.cache.stale_wait_ms);
	set_timer(e, p);
}

void
course_end(struct engine *e, struct pending *p)
{
	attempts_end(e, p);
	pending_free(e, p);
}

static void
pass_all(struct engine *e, struct pending *p)
{
	struct engine_client *client;

	while ((client = TAILQ_FIRST(&p->clients)) != NULL) {
		const struct answer_given failure = {
			.rcode = RCODE_SERVFAIL };

		if (client->chase != NULL) {
			answer_client(e, client, &failure);
			continue;
		}
		client_release(e, client);
		e->stats.passed++;
		domain_count(e, client->domain, DOMAIN_PASSED, 1);
		e->host.pass(e->host.arg, client);
	}
}

/* The root's domain, if questions of this one may go there. */
static uint32_t
default_domain(const struct engine *e, const struct pending *p)
{
	const struct dns_name root = { .length = 1 };
	int found = forward_settings_domain(&e->settings, &root);

	return found < 0 || (uint32_t)found == p->domain ? NONE :
	    (uint32_t)found;
}

/* Asks the first servers of the question's domain. */
static void
begin_round(struct engine *e, monotime_t now, struct pending *p)
{
	const uint64_t random = engine_random_u64(e);

	if (p->domain == FORWARD_DOMAINS) {
		p->servers = 1;
		p->order[0] = ADDRESSED;
	} else
		p->servers = upstream_order(&e->settings, pending_domain(e, p),
		    e->upstream, e->turn, random, p->order);
	e->turn++;
	memset(p->tries, 0, sizeof(p->tries));
	p->done = p->plain = p->stream = p->down = p->sent = 0;
	p->unsent = false;
	for (uint32_t i = 0; i < p->servers; i++)
		if (e->upstream[p->order[i]].state != UPSTREAM_UP)
			p->down |= 1U << i;
	/* All of its servers are down: none is asked. */
	if (e->settings.health.fail_fast && p->down == (1U << p->servers) - 1)
		p->servers = 0;
	if (!next_attempt(e, now, p))
		return;
	explore(e, now, p);
	if (pending_domain(e, p)->select == SELECT_ALL)
		while (p->sent < p->servers && next_attempt(e, now, p))
			continue;
}

/* Turns to the default servers.  False: they may not be asked. */
static bool
fall_back(struct engine *e, monotime_t now, struct pending *p)
{
	uint32_t domain = default_domain(e, p);

	if (pending_domain(e, p)->fallback != FALLBACK_DEFAULT ||
	    domain == NONE)
		return false;
	e->under_way[p->domain]--;
	e->under_way[domain]++;
	p->domain = domain;
	begin_round(e, now, p);
	return true;
}

/* What a failed question's clients get of the servers, or by us. */
static void
give_failure(struct engine *e, monotime_t now, struct pending *p)
{
	uint16_t ede = p->network_error ? EDE_NETWORK_ERROR :
	    EDE_NO_REACHABLE_AUTHORITY;
	struct message m;

	if (p->last_length > 0 && message_read(&m, p->last, p->last_length)) {
		if (message_ede(&m) != EDE_NONE)
			ede = message_ede(&m);
		answer_keep_failure(e, now, p, m.rcode, ede);
		answer_reply(e, now, p, &m, ede);
		return;
	}
	if (p->sent > 0)
		answer_keep_failure(e, now, p, RCODE_SERVFAIL, ede);
	answer_failure(e, p, RCODE_SERVFAIL, ede);
}

/* Whether the last failed reply is an answer none the less: no failure. */
static bool
give_denial(struct engine *e, monotime_t now, struct pending *p)
{
	struct message m;

	if (p->last_length == 0 || !message_read(&m, p->last, p->last_length) ||
	    (m.rcode != RCODE_NOERROR && m.rcode != RCODE_NXDOMAIN))
		return false;
	answer_reply(e, now, p, &m, EDE_NONE);
	return true;
}

/* The end of a question that its servers do not answer. */
static void
fail(struct engine *e, monotime_t now, struct pending *p)
{
	struct cache_entry entry;
	bool found = p->kept && answer_find(e, now, &p->asked, &entry);

	if (found && !monotime_is_past(now, entry.expires) &&
	    TAILQ_EMPTY(&p->clients)) {
		course_end(e, p);	/* a prefetch: it changes nothing */
		return;
	}
	if (give_denial(e, now, p)) {
		course_end(e, p);
		return;
	}
	if (answer_stale(e, now, p))
		answer_retry_later(e, now, &entry);
	else if (pending_domain(e, p)->fallback == FALLBACK_PASS &&
	    !TAILQ_EMPTY(&p->clients))
		pass_all(e, p);
	else
		give_failure(e, now, p);
	course_end(e, p);
}

static bool
all_lost(const struct pending *p)
{
	const struct attempt *a;

	TAILQ_FOREACH(a, &p->attempts, entry)
		if (!a->lost)
			return false;
	return true;
}

/*
 * The link is down, an address is being changed, descriptors are used up: such things
 * often pass at once.  Who can get something else gets that.
 */
static bool
wait_to_send(struct engine *e, monotime_t now, struct pending *p)
{
	if (!p->unsent || p->again == UNSENT_TIMES || p->last_length > 0 ||
	    monotime_is_set(p->stale_at) || TAILQ_EMPTY(&p->clients) ||
	    pending_domain(e, p)->fallback == FALLBACK_PASS)
		return false;
	p->again++;
	p->again_at = monotime_add_ms(now, UNSENT_MS);
	set_timer(e, p);
	return true;
}

/* No further attempt is possible: waits, falls back, or fails. */
static void
settle(struct engine *e, monotime_t now, struct pending *p)
{
	if (!all_lost(p))
		return;
	if (fall_back(e, now, p) && !all_lost(p))
		return;
	if ((TAILQ_EMPTY(&p->attempts) ||
	    pending_domain(e, p)->fallback == FALLBACK_PASS) &&
	    !wait_to_send(e, now, p))
		fail(e, now, p);
}

static void
go_on(struct engine *e, monotime_t now, struct pending *p)
{
	if (!next_attempt(e, now, p))
		settle(e, now, p);
}

void
course_begin(struct engine *e, monotime_t now, struct pending *p)
{
	p->deadline = monotime_add_ms(now, e->settings.attempts.budget_ms);
	set_timer(e, p);
	begin_round(e, now, p);
	settle(e, now, p);
}

static void
remember(struct pending *p, const struct message *m)
{
	p->network_error = false;
	if (m->length > sizeof(p->last))
		return;
	memcpy(p->last, m->octets, m->length);
	p->last_length = m->length;
}

/* The same server once more, in another way; else it has failed. */
static void
ask_again(struct engine *e, monotime_t now, struct pending *p, uint32_t place)
{
	if (attempt_ask(e, now, p, place))
		return;
	p->done |= 1U << place;
	go_on(e, now, p);
}

static bool
may_use_tcp(const struct engine *e, const struct pending *p,
    const struct attempt *a)
{
	if (a->transport != FORWARD_UDP || a->upstream == REMOVED)
		return false;
	return (a->upstream == ADDRESSED ? p->nameserver.transport :
	    upstream_of(e, a->upstream)->transport) == FORWARD_AUTO;
}

/* A code that is no reason to ask another server, and is no answer. */
static void
hand_on(struct engine *e, monotime_t now, struct pending *p)
{
	struct cache_entry entry;

	if (answer_stale(e, now, p)) {
		if (answer_find(e, now, &p->asked, &entry))
			answer_retry_later(e, now, &entry);
	} else {
		give_failure(e, now, p);
	}
	course_end(e, p);
}

/* A message that answers the question: an answer, or a reason to go on. */
static void
course_answer(struct engine *e, monotime_t now, struct attempt *a,
    const struct message *m)
{
	struct pending *p = &e->pending[a->of];
	uint32_t place = a->place;

	if (a->transport == FORWARD_UDP && a->upstream < FORWARD_SLOTS)
		upstream_udp_answer(&e->upstream[a->upstream], now,
		    (m->flags & DNS_FLAG_TC) != 0);
	if ((m->flags & DNS_FLAG_TC) != 0 && may_use_tcp(e, p, a)) {
		e->stats.truncated++;
		remember(p, m);
		p->stream |= 1U << place;
		attempt_end(e, a);
		ask_again(e, now, p, place);
	} else if (a->edns && (m->rcode == RCODE_FORMERR ||
	    m->rcode == RCODE_NOTIMP || m->rcode == RCODE_BADVERS)) {
		p->plain |= 1U << place;
		attempt_end(e, a);
		ask_again(e, now, p, place);
	} else if (reply_is_failure(&e->settings.attempts, m)) {
		upstream_trouble(&e->upstream[a->upstream], now, reply_is_lame(m) ?
		    TROUBLE_LAME : TROUBLE_RCODE, m->rcode);
		if (!reply_is_lame(m))
			remember(p, m);
		p->done |= 1U << place;
		attempt_end(e, a);
		go_on(e, now, p);
	} else if (m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN) {
		remember(p, m);
		attempt_end(e, a);
		hand_on(e, now, p);
	} else {
		if (TAILQ_EMPTY(&p->clients))
			e->stats.late += p->stale_given;
		answer_reply(e, now, p, m, EDE_NONE);
		attempt_end(e, a);
		course_end(e, p);
	}
}

/*
 * Replies to something else: skipped, but too many of them are an attack.  Its port is
 * known then, so the attempt ends.  The same server is asked over TCP, where that may
 * be; else the next attempt has a port of its own, there are few of them, and letters
 * are to be guessed, too (draft-vixie-dnsext-dns0x20), for a minute.
 */
static void
mismatch(struct engine *e, monotime_t now, struct attempt *a)
{
	struct pending *p = &e->pending[a->of];
	uint32_t place = a->place;

	e->stats.mismatched++;
	e->upstream[a->upstream].mismatched++;
	if (++a->mismatched < MISMATCHES_MAX)
		return;
	e->upstream[a->upstream].forged = now;
	if (may_use_tcp(e, p, a)) {
		p->stream |= 1U << place;
		attempt_end(e, a);
		ask_again(e, now, p, place);
	} else {
		attempt_end(e, a);
		go_on(e, now, p);
	}
}

/*
 * A malformed reply fails the server.  The good one may be behind it, if it was
 * forged: the attempt stays open for a moment.
 */
static void
broken(struct engine *e, monotime_t now, struct attempt *a)
{
	struct pending *p = &e->pending[a->of];

	if (a->broken)
		return;
	a->broken = true;
	p->done |= 1U << a->place;
	p->network_error = false;
	timer_set(&e->timers, &a->timer, monotime_add_ms(now, BROKEN_MS));
	if (p->latest == (uint32_t)(a - e->attempt))
		(void)next_attempt(e, now, p);
}

void
course_reply(struct engine *e, monotime_t now, struct attempt *a,
    const uint8_t *octets, size_t length)
{
	struct pending *p = &e->pending[a->of];
	struct message m;

	switch (message_fit(&m, &p->asked, a->id, a->mixed ? a->mask : NULL,
	    octets, length)) {
	case FIT_OTHER:
		mismatch(e, now, a);
		break;
	case FIT_BROKEN:
		e->stats.malformed++;
		upstream_trouble(&e->upstream[a->upstream], now,
		    TROUBLE_MALFORMED, 0);
		broken(e, now, a);
		break;
	case FIT_ANSWER:
		attempt_replied(e, now, a);
		course_answer(e, now, a, &m);
		break;
	}
}

void
course_error(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	struct pending *p = &e->pending[a->of];

	p->network_error = true;
	/*
	 * It would refuse again, and say so less often: hosts limit how many
	 * ICMP messages they send (RFC 4443 section 2.4(f)).
	 */
	if (error == ECONNREFUSED)
		p->done |= 1U << a->place;
	attempt_lost(e, now, a, error);
	attempt_end(e, a);
	go_on(e, now, p);
}

void
course_unsent(struct engine *e, monotime_t now, struct attempt *a, int error)
{
	struct pending *p = &e->pending[a->of];

	p->done |= 1U << a->place;
	p->network_error = p->unsent = true;
	attempt_unsent(e, now, a, error);
	go_on(e, now, p);
}

void
course_late(struct engine *e, monotime_t now, struct attempt *a)
{
	struct pending *p = &e->pending[a->of];
	bool latest = p->latest == (uint32_t)(a - e->attempt);

	if (a->broken)
		attempt_end(e, a);
	else
		attempt_lost(e, now, a, 0);
	if (latest)
		go_on(e, now, p);
	else
		settle(e, now, p);
}

void
course_timer(struct engine *e, monotime_t now, struct pending *p)
{
	if (monotime_is_past(now, p->deadline)) {
		fail(e, now, p);
		return;
	}
	if (monotime_is_set(p->again_at) &&
	    monotime_is_past(now, p->again_at)) {
		p->again_at = MONOTIME_NEVER;
		set_timer(e, p);
		begin_round(e, now, p);
		settle(e, now, p);
		return;
	}
	p->stale_given = answer_stale(e, now, p);
	p->stale_at = MONOTIME_NEVER;
	set_timer(e, p);
}
