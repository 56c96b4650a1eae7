/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/express_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include "nfq/ask/cached_answer.h"
#include "resolver/dns/rr.h"

/*
 * With so many questions under way a port serves several.  Few hosts come there but by
 * a flood; a page that is loaded asks for some ten names.
 */
#define MANY_UNDER_WAY	32

static void
take_random(struct express *x, void *octets, size_t length)
{
	if (x->random_left < length) {
		if (getrandom(x->random, sizeof(x->random), 0) !=
		    (ssize_t)sizeof(x->random))
			abort();
		x->random_left = sizeof(x->random);
	}
	x->random_left -= length;
	memcpy(octets, x->random + x->random_left, length);
	explicit_bzero(x->random + x->random_left, length);
}

int
express_new(struct express **express, const struct express_options *options)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct express *x = calloc(1, sizeof(*x));

	*express = NULL;
	if (x == NULL)
		return -ENOMEM;
	x->board = options->board;
	x->upstreams = options->upstreams;
	x->held = options->held;
	x->most = options->most;
	TAILQ_INIT(&x->sent);
	TAILQ_INIT(&x->idle);
	STAILQ_INIT(&x->free);
	take_random(x, &x->seed, sizeof(x->seed));
	express_turns_init(&x->turns, x->seed);
	x->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (x->epoll < 0 || epoll_ctl(x->epoll, EPOLL_CTL_ADD, options->queue,
	    &event) < 0) {
		const int error = -errno;

		express_free(x);
		return error;
	}
	x->sockets.mark = options->mark;
	x->sockets.epoll = x->epoll;
	express_sockets_init(&x->sockets);
	atomic_store(x->held, 0);
	*express = x;
	return 0;
}

void
express_free(struct express *x)
{
	if (x == NULL)
		return;
	express_sockets_free(&x->sockets);
	if (x->epoll >= 0)
		(void)close(x->epoll);
	free(x);
}

bool
express_is_idle(const struct express *x)
{
	return x->under_way == 0;
}

/* Whom to ask */

/* Cookies and the like are between two hops: they are not handed on. */
static bool
hands_options_on(const struct message *m)
{
	struct message_options options;

	if (m->options_length == 0)
		return false;
	message_options(&options, m);
	return options.length > 0;
}

/* What may change the answer is asked for by the forwarding thread. */
static bool
is_usual(const struct express_ask *ask)
{
	const struct interception *i = ask->interception;
	struct message m;

	return i->form == PACKET_OK && i->decision.reason == REASON_FORWARD &&
	    ask->packet->length <= EXPRESS_OCTETS &&
	    i->question.form == QUESTION_PLAIN &&
	    i->question.type != TYPE_TXT &&	/* it may be a loop probe */
	    message_read(&m, i->packet.payload, i->packet.payload_length) &&
	    !hands_options_on(&m);
}

/* Sometimes it is the forwarding thread's turn, which asks one more server. */
static bool
is_exploring(struct express *x, const struct forward_settings *settings,
    const struct forward_domain *domain)
{
	uint32_t random;

	if (domain->select != SELECT_FASTEST || domain->upstreams < 2)
		return false;
	take_random(x, &random, sizeof(random));
	return random % 100 < settings->attempts.explore;
}

static bool
is_current(const struct express *x, uint64_t generation)
{
	return atomic_load(&x->upstreams->generation) == generation;
}

/* After a reply to something else. */
static bool
is_doubted(const struct express *x, monotime_t now, uint32_t upstream)
{
	const monotime_t until = x->doubted[upstream];

	return monotime_is_set(until) && !monotime_is_past(now, until);
}

/* Whether its answer is kept, if it is one that may be. */
static bool
is_kept(const struct express_ask *ask)
{
	const struct message_options none = { .length = 0 };
	const struct interception *i = ask->interception;

	return ask->caches && ask->settings->domain[i->domain].cache &&
	    cached_is_common(&i->question, &none);
}

/*
 * A stale answer, one that is soon to expire and a failure that is kept are the
 * forwarding thread's; so is all in the moment of a reload, when the cache is not to
 * be read.  No reply is being read here, so its place is free.
 */
static bool
is_cached(struct express *x, const struct express_ask *ask, monotime_t now)
{
	const struct forward_cache_settings *settings = &ask->settings->cache;
	const struct cache_key key = cached_key(&ask->interception->question);
	struct cache_entry entry;

	return is_kept(ask) && (ask->cache == NULL || cache_find(ask->cache,
	    now, &key,
	    settings->stale != STALE_OFF ? settings->stale_s : 0, &entry,
	    x->datagram));
}

const struct forward_upstream *
express_upstream(struct express *x, const struct express_ask *ask)
{
	const struct forward_settings *settings = ask->settings;
	const monotime_t now = monotime_boot();	/* x->boot may be an old one */
	uint32_t domain;
	int upstream;

	if (!is_usual(ask) || !is_current(x, ask->generation))
		return NULL;
	domain = ask->interception->domain;
	upstream = upstream_simple(settings, domain, x->upstreams->upstream,
	    now);
	if (upstream < 0 || is_doubted(x, now, (uint32_t)upstream) ||
	    is_exploring(x, settings, &settings->domain[domain]) ||
	    is_cached(x, ask, now))
		return NULL;
	return &settings->upstream[upstream];
}

/* Questions */

/* A copy that stays; its views are of its own octets. */
static void
keep(struct express_question *q, const struct express_ask *ask)
{
	const struct interception *i = ask->interception;

	held_packet_keep(&q->held, ask->packet, i, ask->received_ns,
	    q->octets);
	q->length = ask->packet->length;
	q->since = ask->now;
	q->question = i->question;
	q->question.wire = q->held.packet.payload +
	    (i->question.wire - i->packet.payload);
}

static struct express_question *
take_question(struct express *x)
{
	struct express_question *q = STAILQ_FIRST(&x->free);

	if (x->under_way >= x->most)
		return NULL;
	if (q != NULL)
		STAILQ_REMOVE_HEAD(&x->free, entry);
	else if (x->questions_used < EXPRESS_QUESTIONS)
		q = &x->questions[x->questions_used++];
	return q;
}

static void
count_under_way(struct express *x, int change)
{
	x->under_way += (unsigned int)change;
	atomic_store_explicit(x->held, x->under_way, memory_order_relaxed);
	if (x->under_way < MANY_UNDER_WAY)
		express_sockets_keep_ports(&x->sockets, false);
}

static void
hold(struct express *x, struct express_attempt *a, struct express_question *q,
    const struct express_ask *ask)
{
	keep(q, ask);
	STAILQ_INSERT_TAIL(&a->questions, q, entry);
	count_under_way(x, 1);
}

static struct express_equal *
list_of(struct express *x, const struct question *q)
{
	return &x->equal[XXH3_64bits_withSeed(q->name.octets, q->name.length,
	    x->seed ^ q->type) % EXPRESS_LISTS];
}

/* The same, for whoever asks: engine_state.c joins by the same. */
static bool
is_equal(const struct question *a, const struct question *b)
{
	const uint16_t flags = DNS_FLAG_RD | DNS_FLAG_CD;

	return a->type == b->type && a->class == b->class &&
	    (a->flags & flags) == (b->flags & flags) &&
	    a->edns.dnssec_ok == b->edns.dnssec_ok &&
	    name_equal(&a->name, &b->name);
}

static struct express_attempt *
find_equal(struct express *x, const struct question *question)
{
	struct express_attempt *a;

	LIST_FOREACH(a, list_of(x, question), equal)
		if (is_equal(&STAILQ_FIRST(&a->questions)->question, question))
			return a;
	return NULL;
}

/* Attempts */

static struct express_attempt *
take_attempt(struct express *x)
{
	struct express_attempt *a = TAILQ_FIRST(&x->idle);

	if (a == NULL && x->attempts_used < EXPRESS_QUESTIONS) {
		a = &x->attempts[x->attempts_used++];
		TAILQ_INSERT_HEAD(&x->idle, a, entry);
	}
	return a;
}

/* Idle ones: the last used first, whose memory is at hand. */
static void
change_state(struct express *x, struct express_attempt *a,
    enum express_state state)
{
	if (a->state == EXPRESS_WAITING)
		express_turns_remove(&x->turns, a);
	else
		TAILQ_REMOVE(a->state == EXPRESS_SENT ? &x->sent : &x->idle, a,
		    entry);
	a->state = state;
	if (state == EXPRESS_WAITING)
		express_turns_add(&x->turns, a,
		    STAILQ_FIRST(&a->questions)->held.uid);
	else if (state == EXPRESS_SENT)
		TAILQ_INSERT_TAIL(&x->sent, a, entry);
	else
		TAILQ_INSERT_HEAD(&x->idle, a, entry);
}

static bool
begin_attempt(struct express *x, struct express_question *q,
    const struct forward_upstream *to, const struct express_ask *ask)
{
	const struct question *question = &ask->interception->question;
	struct express_attempt *a = take_attempt(x);

	if (a == NULL)
		return false;
	a->domain = ask->interception->domain;
	a->upstream = (uint32_t)(to - ask->settings->upstream);
	a->slot = to->slot;
	a->generation = ask->generation;
	/* As engine.c: where equal ones do not join, only the first. */
	a->kept = is_kept(ask) && (ask->settings->attempts.join ||
	    find_equal(x, question) == NULL);
	STAILQ_INIT(&a->questions);
	LIST_INSERT_HEAD(list_of(x, question), a, equal);
	hold(x, a, q, ask);
	change_state(x, a, EXPRESS_WAITING);
	return true;
}

enum express_begun
express_begin(struct express *x, const struct forward_upstream *to,
    const struct express_ask *ask)
{
	struct express_attempt *equal = !ask->settings->attempts.join ? NULL :
	    find_equal(x, &ask->interception->question);
	struct express_question *q = take_question(x);

	if (q == NULL)
		return EXPRESS_NOT;
	if (equal != NULL) {
		hold(x, equal, q, ask);
		if (equal->state == EXPRESS_WAITING)
			express_turns_join(&x->turns, equal, q->held.uid);
		return EXPRESS_JOINED;
	}
	if (begin_attempt(x, q, to, ask))
		return EXPRESS_HELD;
	STAILQ_INSERT_HEAD(&x->free, q, entry);
	return EXPRESS_NOT;
}

struct express_attempt *
express_next(struct express *x)
{
	return express_turns_next(&x->turns);
}

static int
send_question(struct express *x, struct express_attempt *a,
    const struct forward_settings *settings)
{
	const struct message_ask message = {
		.question = &STAILQ_FIRST(&a->questions)->question,
		.edns = true, .ad = settings->attempts.pass_ad,
	};
	uint8_t octets[MESSAGE_ASK_MAX];
	size_t length;

	take_random(x, &a->id, sizeof(a->id));
	length = message_ask(&message, a->id, octets);
	return send(a->socket->fd, octets, length,
	    MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void
close_socket(struct express *x, struct express_attempt *a)
{
	express_sockets_close(&x->sockets, a->socket);
	a->socket = NULL;
}

/* Since it was held, its upstream may have become silent, or another by a reload. */
static bool
may_send(const struct express *x, const struct express_attempt *a,
    const struct forward_settings *settings, monotime_t now)
{
	return is_current(x, a->generation) &&
	    !is_doubted(x, now, a->upstream) &&
	    upstream_is_simple(&settings->upstream[a->upstream],
	    &x->upstreams->upstream[a->slot], now);
}

int
express_send(struct express *x, struct express_attempt *a,
    const struct forward_settings *settings, uint64_t generation)
{
	const monotime_t now = monotime_boot();
	int error;

	if (a->generation != generation || !may_send(x, a, settings, now))
		return -ESTALE;
	express_sockets_keep_ports(&x->sockets,
	    x->under_way >= MANY_UNDER_WAY);
	a->sent = now;
	a->socket = express_sockets_take(&x->sockets, a,
	    &settings->upstream[a->upstream], a->sent);
	if (a->socket == NULL)
		return -EAGAIN;
	error = send_question(x, a, settings);
	if (error < 0) {
		close_socket(x, a);
		return error;
	}
	if (TAILQ_EMPTY(&x->sent))
		x->boot = a->sent;
	change_state(x, a, EXPRESS_SENT);
	x->upstreams->upstream[a->slot].sent++;
	return 0;
}

/* The end of an attempt */

/* Nothing is learnt of an upstream by replies of one that had its place. */
static void
note_reply(struct express *x, const struct express_attempt *a)
{
	const int64_t us = (x->boot.ns - a->sent.ns) / 1000;
	struct upstream *up = &x->upstreams->upstream[a->slot];

	if (!is_current(x, a->generation))
		return;
	upstream_udp_answer(up, x->boot, false);
	upstream_replied(up, x->boot, us < 1 ? 1 :
	    us > INT32_MAX ? INT32_MAX : (uint32_t)us);
}

void
express_answered(struct express *x, struct express_attempt *a)
{
	note_reply(x, a);
	express_sockets_done(&x->sockets, a->socket);
	a->socket = NULL;
	express_end(x, a);
}

/* False without memory: the question is asked anew. */
static bool
give(struct express *x, struct express_attempt *a,
    const struct express_reply *reply)
{
	const struct express_question *first = STAILQ_FIRST(&a->questions);
	struct begun_question *begun = begun_new(first->octets, first->length,
	    reply != NULL ? reply->octets : NULL,
	    reply != NULL ? reply->length : 0);

	if (begun == NULL)
		return false;
	begun->generation = a->generation;
	begun->upstream = a->upstream;
	begun->id = a->id;
	begun->sent = a->sent;
	begun->error = reply != NULL ? reply->error : 0;
	if (begun->error == 0) {
		begun->fd = a->socket->fd;
		express_sockets_give(&x->sockets, a->socket);
		a->socket = NULL;
	}
	express_board_give(x->board, begun);
	return true;
}

void
express_give(struct express *x, struct express_attempt *a,
    const struct express_reply *reply)
{
	if (!give(x, a, reply) || a->socket != NULL)
		close_socket(x, a);
}

void
express_end(struct express *x, struct express_attempt *a)
{
	struct express_question *q;

	while ((q = STAILQ_FIRST(&a->questions)) != NULL) {
		STAILQ_REMOVE_HEAD(&a->questions, entry);
		STAILQ_INSERT_HEAD(&x->free, q, entry);
		count_under_way(x, -1);
	}
	LIST_REMOVE(a, equal);
	change_state(x, a, EXPRESS_IDLE);
	if (express_is_idle(x))
		express_sockets_rest(&x->sockets);
}

void
express_age(struct express *x, monotime_t now)
{
	express_sockets_age(&x->sockets, now);
}
