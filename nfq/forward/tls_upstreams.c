/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions, channels and time; the connections are in tls_connections.c. */
#include "nfq/forward/tls_state.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nfq/sockets/client.h"

#define WANT_EVERY_MS	1000

void
tls_upstreams_init(struct tls_upstreams *t, int epoll, uint32_t mark)
{
	t->epoll = epoll;
	t->mark = mark;
	t->channel = t->sockets = -1;
	stream_questions_init(&t->questions);
	TAILQ_INIT(&t->failed);
}

int
tls_upstreams_send(struct tls_upstreams *t, monotime_t now, uint32_t attempt,
    const struct asking *cause, const struct forward_upstream *to,
    const uint8_t *octets, size_t length)
{
	struct tls_upstream *u;
	struct stream_question *q;

	if (length < TLS_DNS_LEAST || length > TLS_BODY_MAX)
		return -EMSGSIZE;
	u = tls_place(t, to);
	if (u == NULL)
		return -ENOBUFS;
	/* It was tried just now, more than once. */
	if (u->state == TLS_IDLE && u->failures > 1 &&
	    monotime_is_set(u->retry) && !monotime_is_past(now, u->retry))
		return -ECONNREFUSED;
	q = stream_question_new(&t->questions, attempt, cause, octets, length);
	if (q == NULL)
		return -ENOMEM;
	stream_question_move(q, &u->waiting);
	tls_begin(t, now, u);
	tls_flush(t, now, u);
	return 0;
}

bool
tls_upstreams_forget(struct tls_upstreams *t, monotime_t now, uint32_t attempt)
{
	struct stream_question *q = stream_question_of(&t->questions, attempt);
	struct tls_upstream *u;

	if (q == NULL)
		return false;
	u = tls_by_connection(t, q->connection);
	if (u != NULL && !q->answered) {
		u->awaited--;
		u->given_up++;
	}
	stream_question_free(&t->questions, q);
	if (u != NULL)
		tls_rest(t, now, u);
	return true;
}

static void
begin_all(struct tls_upstreams *t, monotime_t now)
{
	for (size_t i = 0; i < t->places; i++)
		if (!TAILQ_EMPTY(&t->all[i].waiting))
			tls_begin(t, now, &t->all[i]);
}

static bool
add_channel(const struct tls_upstreams *t, int channel, void *who)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = who };

	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, channel, &event) == 0)
		return true;
	(void)close(channel);
	return false;
}

void
tls_upstreams_use(struct tls_upstreams *t, monotime_t now, int channel)
{
	tls_lose_channel(t, 0);
	if (!add_channel(t, channel, t))
		return;
	t->channel = channel;
	begin_all(t, now);
}

static void
lose_sockets(struct tls_upstreams *t)
{
	if (t->sockets < 0)
		return;
	(void)close(t->sockets);
	t->sockets = -1;
	t->asked_count = 0;
	for (size_t i = 0; i < t->places; i++)
		if (t->all[i].state == TLS_WAITS_SOCKET)
			tls_reset(&t->all[i]);
}

void
tls_upstreams_use_sockets(struct tls_upstreams *t, monotime_t now, int channel)
{
	lose_sockets(t);
	if (!add_channel(t, channel, &t->sockets))
		return;
	t->sockets = channel;
	begin_all(t, now);
}

void
tls_upstreams_take_sockets(struct tls_upstreams *t, monotime_t now)
{
	struct tls_upstream *u;
	int fd, error = 0;

	while (t->sockets >= 0 &&
	    (error = sockets_answer(t->sockets, t->uid, &fd)) == 0) {
		if (t->asked_count == 0) {
			if (fd >= 0)
				(void)close(fd);
			error = -EPROTO;
			break;
		}
		u = tls_by_connection(t, t->asked[t->oldest]);
		t->oldest = (t->oldest + 1) % TLS_SOCKETS_ASKED;
		t->asked_count--;
		if (u != NULL && u->state == TLS_WAITS_SOCKET && fd >= 0)
			tls_hand_over(t, now, u, fd);
		else if (u != NULL && fd < 0)
			tls_connection_over(t, now, u, TLS_END_NETWORK,
			    strerror(-fd));
		else if (fd >= 0)
			(void)close(fd);
	}
	if (error < 0 && error != -EAGAIN)
		lose_sockets(t);
}

void
tls_upstreams_event(struct tls_upstreams *t, monotime_t now, uint32_t events)
{
	if ((events & EPOLLOUT) == 0 || !t->blocked)
		return;
	t->blocked = false;
	for (size_t i = 0; i < t->places; i++)
		tls_flush(t, now, &t->all[i]);
	if (!t->blocked)
		tls_watch(t);
}

bool
tls_upstreams_failed(struct tls_upstreams *t, struct stream_reply *reply)
{
	struct stream_question *q = TAILQ_FIRST(&t->failed);

	if (q == NULL)
		return false;
	*reply = (struct stream_reply){ .attempt = q->attempt, .cause = q->cause,
		.error = q->error };
	stream_question_free(&t->questions, q);
	return true;
}

/* Time */

monotime_t
tls_upstreams_next(const struct tls_upstreams *t)
{
	monotime_t next = MONOTIME_NEVER;

	for (size_t i = 0; i < t->places; i++) {
		const struct tls_upstream *u = &t->all[i];

		next = monotime_first(next, u->deadline);
		next = monotime_first(next, u->idle);
		next = monotime_first(next, u->mute);
		if (!TAILQ_EMPTY(&u->waiting) && t->channel >= 0)
			next = monotime_first(next, u->retry);
	}
	return next;
}

static bool
is_due(monotime_t now, monotime_t at)
{
	return monotime_is_set(at) && monotime_is_past(now, at);
}

static void
tick_one(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	if (is_due(now, u->deadline)) {
		tls_give_up(t, now, u, TLS_END_NETWORK, "the TLS handshake takes "
		    "too long");
	} else if (is_due(now, u->mute)) {
		u->answered = false;
		tls_give_up(t, now, u, TLS_END_PEER, "it does not answer");
	} else if (is_due(now, u->idle)) {
		tls_close_idle(t, u);
	}
	if (!TAILQ_EMPTY(&u->waiting))
		tls_begin(t, now, u);
}

void
tls_upstreams_tick(struct tls_upstreams *t, monotime_t now)
{
	for (size_t i = 0; i < t->places; i++)
		tick_one(t, now, &t->all[i]);
	if (t->stuck)
		tls_lose_channel(t, -ETIMEDOUT);
}

static bool
any_waits(const struct tls_upstreams *t)
{
	for (size_t i = 0; i < t->places; i++)
		if (!TAILQ_EMPTY(&t->all[i].waiting))
			return true;
	return false;
}

/* Whether a second has passed; then it begins anew. */
static bool
is_time(monotime_t now, monotime_t *last)
{
	if (monotime_is_set(*last) &&
	    monotime_ms_since(now, *last) < WANT_EVERY_MS)
		return false;
	*last = now;
	return true;
}

bool
tls_upstreams_wants(struct tls_upstreams *t, monotime_t now, bool any)
{
	return t->channel < 0 && (any || any_waits(t)) &&
	    is_time(now, &t->wanted);
}

bool
tls_upstreams_wants_sockets(struct tls_upstreams *t, monotime_t now)
{
	return t->helper && t->sockets < 0 && any_waits(t) &&
	    is_time(now, &t->sockets_wanted);
}

const char *
tls_upstreams_why(const struct tls_upstreams *t,
    const struct forward_upstream *to)
{
	for (size_t i = 0; i < t->places; i++)
		if (forward_upstream_same(&t->all[i].to, to))
			return t->all[i].why;
	return "";
}

void
tls_upstreams_close(struct tls_upstreams *t)
{
	struct stream_question *q;

	tls_lose_channel(t, 0);
	lose_sockets(t);
	for (size_t i = 0; i < t->places; i++)
		while ((q = TAILQ_FIRST(&t->all[i].waiting)) != NULL)
			stream_question_free(&t->questions, q);
	while ((q = TAILQ_FIRST(&t->failed)) != NULL)
		stream_question_free(&t->questions, q);
}
