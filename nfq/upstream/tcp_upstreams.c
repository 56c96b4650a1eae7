/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions, events and time; the connections are in tcp_connections.c. */
#include "nfq/upstream/tcp_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include "resolver/dns/wire.h"

#define UNASKED_MAX	16

struct tcp_upstreams *
tcp_upstreams_new(uint32_t mark, uint64_t seed)
{
	struct tcp_upstreams *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->mark = mark;
	t->seed = seed;
	t->channel = -1;
	stream_questions_init(&t->questions);
	TAILQ_INIT(&t->upstreams);
	TAILQ_INIT(&t->unsent);
	TAILQ_INIT(&t->dead);
	for (size_t i = 0; i < TCP_HOSTS; i++)
		TAILQ_INIT(&t->by_host[i]);
	for (size_t i = 0; i < TCP_LISTS; i++)
		TAILQ_INIT(&t->by_number[i]);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0 || timers_init(&t->timers, TCP_CONNECTIONS_ALL) < 0) {
		tcp_upstreams_free(t);
		return NULL;
	}
	return t;
}

int
tcp_upstreams_fd(const struct tcp_upstreams *t)
{
	return t->epoll;
}

/* Questions */

/* What a client addresses may be anything: the list is not his to choose. */
static struct tcp_upstream *
upstream_of(struct tcp_upstreams *t, monotime_t now,
    const struct forward_upstream *to)
{
	const uint32_t host = (uint32_t)(XXH3_64bits_withSeed(to->address,
	    sizeof(to->address), t->seed ^ to->port) % TCP_HOSTS);
	struct tcp_upstream *u;

	TAILQ_FOREACH(u, &t->by_host[host], by_host)
		if (forward_upstream_same(&u->to, to))
			break;
	if (u == NULL) {
		struct tcp_upstream *oldest = TAILQ_FIRST(&t->upstreams);

		u = calloc(1, sizeof(*u));
		if (u == NULL)
			return NULL;
		u->to = *to;
		u->host = host;
		TAILQ_INIT(&u->waiting);
		TAILQ_INIT(&u->connections);
		TAILQ_INSERT_HEAD(&t->by_host[host], u, by_host);
		TAILQ_INSERT_TAIL(&t->upstreams, u, entry);
		t->upstream_count++;
		if (oldest != NULL)
			tcp_release(t, now, oldest);
		return u;
	}
	TAILQ_REMOVE(&t->upstreams, u, entry);
	TAILQ_INSERT_TAIL(&t->upstreams, u, entry);
	return u;
}

int
tcp_upstreams_send(struct tcp_upstreams *t, monotime_t now, uint32_t attempt,
    const struct forward_upstream *to, const uint8_t *octets, size_t length)
{
	struct stream_question *q;
	struct tcp_upstream *u;

	if (length < FRAMES_LEAST || length > (to->transport == FORWARD_TLS ?
	    TLS_COPY - FRAMES_LENGTH : FRAMES_MOST))
		return -EMSGSIZE;
	u = upstream_of(t, now, to);
	if (u == NULL)
		return -ENOMEM;
	/* TLS has failed just now, more than once. */
	if (TAILQ_EMPTY(&u->connections) && monotime_is_set(u->retry) &&
	    !monotime_is_past(now, u->retry))
		return -ECONNREFUSED;
	q = stream_question_new(&t->questions, attempt, octets, length);
	if (q == NULL) {
		tcp_release(t, now, u);
		return -ENOMEM;
	}
	stream_question_move(q, &u->waiting);
	u->waits++;
	t->waits++;
	tcp_pump(t, now, u);
	return 0;
}

/* Whether the server is known to be of no more use on this connection. */
static bool
is_spent(const struct tcp_connection *c, monotime_t now)
{
	return TAILQ_EMPTY(&c->sent) && tcp_is_alone(c->upstream, now) &&
	    (c->upstream->once || c->given_up > 0);
}

static void
forget_sent(struct tcp_upstreams *t, monotime_t now, struct stream_question *q)
{
	struct tcp_connection *c = tcp_by_number(t, q->connection);

	if (!q->answered) {
		c->awaited--;
		c->given_up++;
	}
	stream_question_free(&t->questions, q);
	if (!is_spent(c, now))
		return;
	if (c == t->reading)
		c->finished = true;
	else
		tcp_over(t, now, c, TCP_END_OURS, 0);
}

bool
tcp_upstreams_forget(struct tcp_upstreams *t, monotime_t now, uint32_t attempt)
{
	struct stream_question *q = stream_question_of(&t->questions, attempt);

	if (q == NULL)
		return false;
	if (q->connection != 0) {
		forget_sent(t, now, q);
	} else if (q->in == &t->questions.failed) {
		stream_question_free(&t->questions, q);
	} else {
		struct tcp_upstream *u = (struct tcp_upstream *)q->in;

		/* It waits for a connection no longer. */
		stream_question_free(&t->questions, q);
		u->waits--;
		t->waits--;
		tcp_release(t, now, u);
	}
	return true;
}

void
tcp_upstreams_flush(struct tcp_upstreams *t)
{
	struct tcp_connection *c;

	while ((c = TAILQ_FIRST(&t->unsent)) != NULL) {
		TAILQ_REMOVE(&t->unsent, c, in_unsent);
		c->unsent = false;
		tcp_flush(t, c);
	}
}

bool
tcp_upstreams_failed(struct tcp_upstreams *t, struct stream_reply *reply)
{
	return stream_questions_failed(&t->questions, reply);
}

/* Answers */

static void
free_dead(struct tcp_upstreams *t)
{
	struct tcp_connection *c;

	while ((c = TAILQ_FIRST(&t->dead)) != NULL) {
		TAILQ_REMOVE(&t->dead, c, entry);
		free(c);
	}
}

void
tcp_upstreams_wait(struct tcp_upstreams *t)
{
	free_dead(t);
	t->event = 0;
	t->event_count = epoll_wait(t->epoll, t->events, TCP_EVENTS, 0);
}

/* To a question that was given up, or of a liar.  False: too many of them. */
static bool
unasked(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c)
{
	if (c->given_up > 0) {
		c->given_up--;
		c->heard = now;
		tcp_set_timer(t, now, c);
		return true;
	}
	tcp_stats_of(t, c->upstream)->unasked++;
	return ++c->unasked <= UNASKED_MAX;
}

/* A message has come.  Whether it is for an attempt. */
static bool
is_answer(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    const uint8_t *message, size_t length, struct stream_reply *reply)
{
	struct stream_question *q = stream_question_by_id(&t->questions,
	    c->number, wire_load_u16(message));
	const struct stream_question *first;

	if (q == NULL || q->answered) {
		if (!unasked(t, now, c))
			c->finished = true;
		return false;
	}
	first = TAILQ_FIRST(&c->sent);
	c->upstream->parallel |= first != q && !first->answered;
	q->answered = true;
	if (c->answers++ == 0 && tcp_is_tunnel(c->upstream))
		tcp_tunnel_works(c->upstream);
	c->awaited--;
	c->heard = now;
	tcp_set_timer(t, now, c);
	*reply = (struct stream_reply){ .attempt = q->attempt,
		.from = &c->upstream->to,
		.octets = message, .length = length };
	return true;
}

/* The next message of the octets that were read; false: there is none. */
static bool
read_message(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    struct stream_reply *reply)
{
	const uint8_t *message;
	size_t room, left;
	uint8_t *to;
	ssize_t n;

	while (!c->finished && (left = t->end - t->at) > 0) {
		to = frames_in_room(&c->in, &room);
		if (to == NULL)
			break;
		room = room < left ? room : left;
		memcpy(to, t->octets + t->at, room);
		t->at += room;
		n = frames_in_took(&c->in, room, &message);
		if (n > 0 && is_answer(t, now, c, message, (size_t)n, reply))
			return true;
		c->finished |= n < 0;
	}
	c->finished |= t->at < t->end;
	return false;
}

/* A tunnel ends with nfdns-tls, too, which says nothing of the server. */
static void
end_by_peer(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    int error)
{
	const enum tcp_state was = c->state;

	if (tcp_is_tunnel(c->upstream))
		tcp_tunnels_look(t, now);
	if (c->state == was)
		tcp_over(t, now, c, TCP_END_PEER, error);
}

static void
take_event(struct tcp_upstreams *t, monotime_t now,
    const struct epoll_event *event)
{
	struct tcp_connection *c = event->data.ptr;
	size_t count = 0;
	ssize_t n;
	int error;

	if (event->data.ptr == t) {
		tcp_tunnels_look(t, now);
		return;
	}
	if (c->state == TCP_OPENING && tcp_is_tunnel(c->upstream)) {
		error = tcp_tunnel_opening(t, now, c);
		if (error < 0)
			end_by_peer(t, now, c, error);
	} else if (c->state == TCP_OPENING || (c->state == TCP_OPEN &&
	    (event->events & EPOLLOUT) != 0))
		tcp_writable(t, now, c);
	if (c->state != TCP_OPEN)
		return;
	do {
		n = recv(c->fd, t->octets + count, sizeof(t->octets) - count,
		    MSG_DONTWAIT);
		count += n > 0 ? (size_t)n : 0;
		/* A tunnel gives one record at a time. */
	} while (n > 0 && tcp_is_tunnel(c->upstream) &&
	    sizeof(t->octets) - count >= TLS_COPY);
	if (count == 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
		end_by_peer(t, now, c, n == 0 ? -ECONNRESET : -errno);
		return;
	}
	if (count == 0)
		return;
	t->reading = c;
	t->at = 0;
	t->end = count;
}

bool
tcp_upstreams_receive(struct tcp_upstreams *t, monotime_t now,
    struct stream_reply *reply)
{
	struct tcp_connection *c;

	for (;;) {
		c = t->reading;
		if (c != NULL && read_message(t, now, c, reply))
			return true;
		t->reading = NULL;
		if (c != NULL && c->finished)
			tcp_over(t, now, c, TCP_END_PEER, -EPROTO);
		else if (c != NULL && c->upstream->waits > 0)
			tcp_pump(t, now, c->upstream);
		if (t->event >= t->event_count)
			return false;
		take_event(t, now, &t->events[t->event++]);
	}
}

/* Sockets and time */

void
tcp_upstreams_begin(struct tcp_upstreams *t, monotime_t now)
{
	struct tcp_upstream *u;

	if (t->waits == 0)
		return;
	TAILQ_FOREACH(u, &t->upstreams, entry)
		if (u->waits > 0)
			tcp_pump(t, now, u);
}

monotime_t
tcp_upstreams_next(const struct tcp_upstreams *t)
{
	const struct timer *first = timers_first(&t->timers);

	if (t->stuck)
		return monotime_from_ms(1);	/* long ago */
	return first == NULL ? MONOTIME_NEVER : first->at;
}

void
tcp_upstreams_tick(struct tcp_upstreams *t, monotime_t now)
{
	struct timer *first;

	if (t->stuck)
		tcp_tunnels_lose(t, now, -ETIMEDOUT);
	while ((first = timers_first(&t->timers)) != NULL &&
	    monotime_is_past(now, first->at)) {
		struct tcp_connection *c = (struct tcp_connection *)first;
		const bool mute = c->awaited + c->given_up > 0;

		tcp_over(t, now, c, c->state == TCP_OPEN && !mute ?
		    TCP_END_OURS : TCP_END_MUTE, -ETIMEDOUT);
	}
}

const struct tcp_stats *
tcp_upstreams_stats(const struct tcp_upstreams *t, bool tls)
{
	return &t->stats[tls];
}

static void
free_questions(struct tcp_upstreams *t, struct stream_question_list *list)
{
	struct stream_question *q;

	while ((q = TAILQ_FIRST(list)) != NULL)
		stream_question_free(&t->questions, q);
}

void
tcp_upstreams_free(struct tcp_upstreams *t)
{
	struct tcp_upstream *u;

	if (t == NULL)
		return;
	while ((u = TAILQ_FIRST(&t->upstreams)) != NULL) {
		free_questions(t, &u->waiting);
		tcp_end_all(t, u);
		TAILQ_REMOVE(&t->upstreams, u, entry);
		free(u);
	}
	free_questions(t, &t->questions.failed);
	free_dead(t);
	if (t->channel >= 0)
		(void)close(t->channel);
	timers_free(&t->timers);
	if (t->epoll >= 0)
		(void)close(t->epoll);
	free(t);
}
