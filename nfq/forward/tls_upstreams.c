/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions, channels and time; the connections are in tls_connections.c. */
#include "nfq/forward/tls_state.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define WANT_EVERY_MS	1000

void
tls_upstreams_init(struct tls_upstreams *t, int epoll,
    struct dialer *dialer)
{
	t->epoll = epoll;
	t->dialer = dialer;
	t->channel = -1;
	stream_questions_init(&t->questions);
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

void
tls_upstreams_begin(struct tls_upstreams *t, monotime_t now)
{
	for (size_t i = 0; i < t->places; i++)
		if (!TAILQ_EMPTY(&t->all[i].waiting))
			tls_begin(t, now, &t->all[i]);
}

void
tls_upstreams_use(struct tls_upstreams *t, monotime_t now, int channel)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = t };

	tls_lose_channel(t, 0);
	if (epoll_ctl(t->epoll, EPOLL_CTL_ADD, channel, &event) < 0) {
		(void)close(channel);
		return;
	}
	t->channel = channel;
	tls_upstreams_begin(t, now);
}

bool
tls_upstreams_take_socket(struct tls_upstreams *t, monotime_t now,
    uint32_t connection, int fd)
{
	struct tls_upstream *u = tls_by_connection(t, connection);

	if (u == NULL || u->state != TLS_WAITS_SOCKET)
		return false;
	if (fd >= 0)
		tls_hand_over(t, now, u, fd);
	else if (fd == -EPIPE)
		tls_reset(u);
	else
		tls_connection_over(t, now, u, TLS_END_NETWORK, strerror(-fd));
	return true;
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
	return stream_questions_failed(&t->questions, reply);
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

static void
tick_one(struct tls_upstreams *t, monotime_t now, struct tls_upstream *u)
{
	if (monotime_is_due(now, u->deadline)) {
		tls_give_up(t, now, u, TLS_END_NETWORK, "the TLS handshake takes "
		    "too long");
	} else if (monotime_is_due(now, u->mute)) {
		u->answered = false;
		tls_give_up(t, now, u, TLS_END_PEER, "it does not answer");
	} else if (monotime_is_due(now, u->idle)) {
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

bool
tls_upstreams_any_waits(const struct tls_upstreams *t)
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
	return t->channel < 0 && (any || tls_upstreams_any_waits(t)) &&
	    is_time(now, &t->wanted);
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
	for (size_t i = 0; i < t->places; i++)
		while ((q = TAILQ_FIRST(&t->all[i].waiting)) != NULL)
			stream_question_free(&t->questions, q);
	while ((q = TAILQ_FIRST(&t->questions.failed)) != NULL)
		stream_question_free(&t->questions, q);
}
