/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which connection carries a question, when another one is made, and what its end
 * says of the server.
 */
#include "nfq/upstream/tcp_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/open.h"
#include "resolver/dns/wire.h"

#define CONNECT_MS	3000
#define RETRY_MS	1000	/* after one that could not be made, beside others */
#define MUTE_MS		4000	/* no answer comes, although some are awaited */
#define ALONE_MS	10000	/* after questions that stood behind others */
#define ONCE_MS		600000	/* after connections that ended early */
#define SHORTS		2	/* such connections in a row */
#define AGAIN		1	/* times that a question is asked again ... */
#define AGAIN_SHARED	3	/* ... if its connection carried others */
#define UPSTREAMS_KEPT	256	/* without questions, for what is known of them */

bool
tcp_is_alone(const struct tcp_upstream *u, monotime_t now)
{
	return monotime_is_set(u->alone_until) &&
	    !monotime_is_past(now, u->alone_until);
}

struct tcp_connection *
tcp_by_number(struct tcp_upstreams *t, uint32_t number)
{
	struct tcp_connection *c;

	TAILQ_FOREACH(c, &t->by_number[number % TCP_LISTS], by_number)
		if (c->number == number)
			return c;
	return NULL;
}

void
tcp_set_timer(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c)
{
	if (c->state != TCP_OPEN)
		timer_set(&t->timers, &c->timer,
		    monotime_add_ms(now, CONNECT_MS));
	else if (c->awaited + c->given_up > 0)
		timer_set(&t->timers, &c->timer,
		    monotime_add_ms(c->heard, MUTE_MS));
	else
		timer_set(&t->timers, &c->timer,
		    monotime_add_ms(now, TCP_IDLE_MS));
}

static void
watch(struct tcp_upstreams *t, struct tcp_connection *c, int operation)
{
	struct epoll_event event = {
		.events = EPOLLIN | (c->blocked || (c->state == TCP_OPENING &&
		    !tcp_is_tunnel(c->upstream)) ? EPOLLOUT : 0),
		.data.ptr = c,
	};

	(void)epoll_ctl(t->epoll, operation, c->fd, &event);
}

static void
fail_waiting(struct tcp_upstreams *t, struct tcp_upstream *u, int error)
{
	struct stream_question *q;

	while ((q = TAILQ_FIRST(&u->waiting)) != NULL)
		stream_question_fail(&t->questions, q, error);
	t->waits -= u->waits;
	u->waits = 0;
}

/* Sending */

/*
 * Of what waits, what goes out at once: over TLS one question, which has a record of
 * its own then.  dnsdist leaves the second one of a record until something comes.
 */
static size_t
at_once(const struct tcp_connection *c, const uint8_t *octets, size_t left)
{
	return tcp_is_tunnel(c->upstream) ?
	    FRAMES_LENGTH + (size_t)wire_load_u16(octets) : left;
}

/* A connection that broke shows when it is read. */
void
tcp_flush(struct tcp_upstreams *t, struct tcp_connection *c)
{
	const bool was = c->blocked;
	const uint8_t *octets;
	ssize_t n = 0;
	size_t left;

	while ((octets = frames_out_octets(&c->out, &left), left > 0) &&
	    (n = send(c->fd, octets, at_once(c, octets, left),
	    MSG_DONTWAIT | MSG_NOSIGNAL)) >= 0)
		frames_out_sent(&c->out, (size_t)n);
	c->blocked = left > 0;
	if (c->blocked != was)
		watch(t, c, EPOLL_CTL_MOD);
}

/* False: there is no room, or no memory. */
static bool
put(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    struct stream_question *q)
{
	if (frames_out_put(&c->out, q->octets, q->length) < 0) {
		tcp_flush(t, c);
		if (frames_out_put(&c->out, q->octets, q->length) < 0)
			return false;
	}
	stream_question_move(q, &c->sent);
	stream_question_sent(&t->questions, q, c->number);
	c->upstream->waits--;
	t->waits--;
	c->carried++;
	if (c->awaited++ == 0)
		c->heard = now;
	if (c->awaited == 1)
		tcp_set_timer(t, now, c);
	if (!c->unsent)
		TAILQ_INSERT_TAIL(&t->unsent, c, in_unsent);
	c->unsent = true;
	return true;
}

/* It brings nothing: what is sent now may have to wait behind a slow question. */
static bool
is_slow(const struct tcp_connection *c, monotime_t now)
{
	return c->awaited > 0 &&
	    monotime_ms_since(now, c->heard) >= TCP_SLOW_MS;
}

static bool
may_carry(const struct tcp_connection *c, bool alone)
{
	return c->state == TCP_OPEN && !c->blocked && !c->finished &&
	    (!alone || (c->awaited + c->given_up == 0 &&
	    (c->carried == 0 || !c->upstream->once)));
}

/*
 * The one with the fewest questions, but for what the server is known for ("any":
 * there is no other way), and on which the question's id is free: who is an upstream
 * and a client's own nameserver gets ids for each.  NULL: none.
 */
static struct tcp_connection *
choose(struct tcp_upstreams *t, struct tcp_upstream *u, monotime_t now,
    uint16_t id, bool any)
{
	const bool alone = !any && tcp_is_alone(u, now);
	struct tcp_connection *c, *best = NULL;

	TAILQ_FOREACH(c, &u->connections, entry)
		if (may_carry(c, alone) && (any || !is_slow(c, now)) &&
		    (best == NULL || c->awaited < best->awaited) &&
		    stream_question_by_id(&t->questions, c->number, id) == NULL)
			best = c;
	return best;
}

/* Connections */

static struct tcp_connection *
new_connection(struct tcp_upstreams *t, monotime_t now,
    struct tcp_upstream *u)
{
	struct tcp_connection *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->fd = -1;
	if (++t->last == 0)		/* 0 is no number */
		t->last++;
	c->number = t->last;
	c->upstream = u;
	TAILQ_INIT(&c->sent);
	TAILQ_INSERT_TAIL(&u->connections, c, entry);
	TAILQ_INSERT_HEAD(&t->by_number[c->number % TCP_LISTS], c, by_number);
	u->count++;
	t->count++;
	t->tunnels += tcp_is_tunnel(u);
	tcp_set_timer(t, now, c);
	return c;
}

/* Takes it out of all lists but the dead. */
static void
take_out(struct tcp_upstreams *t, struct tcp_connection *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	c->state = TCP_OVER;
	timer_clear(&t->timers, &c->timer);
	if (c->unsent)
		TAILQ_REMOVE(&t->unsent, c, in_unsent);
	c->unsent = false;
	TAILQ_REMOVE(&t->by_number[c->number % TCP_LISTS], c, by_number);
	TAILQ_REMOVE(&c->upstream->connections, c, entry);
	TAILQ_INSERT_TAIL(&t->dead, c, entry);
	frames_in_free(&c->in);
	frames_out_free(&c->out);
	c->upstream->count--;
	t->count--;
	t->tunnels -= tcp_is_tunnel(c->upstream);
}

/* Which may be in progress then.  The socket or a negative errno. */
static int
open_socket(const struct tcp_upstreams *t, const struct forward_upstream *to)
{
	struct sockets_request request = { .kind = SOCKETS_CONNECTION,
		.family = (int)to->family, .port = (uint16_t)to->port,
		.scope_id = to->scope };

	memcpy(request.address, to->address, to->family == AF_INET ? 4 : 16);
	return sockets_open(&request, t->mark);
}

/* The socket is there.  0 or a negative errno: it is closed. */
static int
take_socket(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c, int fd)
{
	if (tcp_is_tunnel(c->upstream))
		fd = tcp_tunnel_open(t, c, fd);
	if (fd < 0)
		return fd;
	c->fd = fd;
	c->state = TCP_OPENING;
	tcp_set_timer(t, now, c);
	watch(t, c, EPOLL_CTL_ADD);
	return 0;
}

/* 0 or a negative errno. */
static int
begin(struct tcp_upstreams *t, monotime_t now, struct tcp_upstream *u)
{
	struct tcp_connection *c;
	int fd;

	if (t->count >= TCP_CONNECTIONS_ALL ||
	    (tcp_is_tunnel(u) && t->tunnels >= TLS_CONNECTIONS))
		return -ENOBUFS;
	c = new_connection(t, now, u);
	if (c == NULL)
		return -ENOMEM;
	fd = open_socket(t, &u->to);
	if (fd >= 0)
		fd = take_socket(t, now, c, fd);
	if (fd < 0)
		take_out(t, c);
	return fd;
}

struct tcp_view {
	uint32_t coming;		/* connections that are being made */
	uint32_t good;			/* that bring answers, or would */
	uint32_t slow;
	uint32_t load;			/* questions that wait, or are at good ones */
};

static struct tcp_view
look(const struct tcp_upstream *u, monotime_t now)
{
	struct tcp_view view = { .load = u->waits };
	const struct tcp_connection *c;

	TAILQ_FOREACH(c, &u->connections, entry) {
		if (c->state != TCP_OPEN) {
			view.coming++;
		} else if (is_slow(c, now)) {
			view.slow++;
		} else {
			view.good++;
			view.load += c->awaited;
		}
	}
	return view;
}

/* Whether another connection is wanted for what waits. */
static bool
wants_another(struct tcp_upstream *u, monotime_t now)
{
	const struct tcp_view v = look(u, now);
	const uint32_t most = v.slow > 0 ? TCP_CONNECTIONS_SLOW :
	    TCP_CONNECTIONS;

	if (v.slow >= TCP_CONNECTIONS && !u->parallel)
		u->alone_until = monotime_add_ms(now, ALONE_MS);
	if (tcp_is_alone(u, now))
		return v.coming < u->waits &&
		    (!tcp_is_tunnel(u) || u->count < TCP_TUNNELS);
	return v.good + v.coming < TCP_CONNECTIONS && u->count < most &&
	    v.load > (v.good + v.coming) * TCP_AT_ONCE;
}

static void
send_waiting(struct tcp_upstreams *t, monotime_t now, struct tcp_upstream *u,
    bool any)
{
	struct stream_question *q;
	struct tcp_connection *c;

	while ((q = TAILQ_FIRST(&u->waiting)) != NULL &&
	    (c = choose(t, u, now, q->id, any)) != NULL)
		if (!put(t, now, c, q))
			return;
}

void
tcp_pump(struct tcp_upstreams *t, monotime_t now, struct tcp_upstream *u)
{
	const bool may = !monotime_is_set(u->retry) ||
	    monotime_is_past(now, u->retry);
	int error = 0;

	send_waiting(t, now, u, false);
	while (error == 0 && may && tcp_tunnels_are_ready(t, u) &&
	    wants_another(u, now))
		error = begin(t, now, u);
	if (u->waits == 0 || look(u, now).coming > 0)
		return;
	send_waiting(t, now, u, true);
	if (!may)
		error = -ECONNREFUSED;
	if (error < 0 && TAILQ_EMPTY(&u->connections))
		fail_waiting(t, u, error);
}

void
tcp_opened(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c)
{
	c->state = TCP_OPEN;
	tcp_stats_of(t, c->upstream)->connections++;
	tcp_set_timer(t, now, c);
	watch(t, c, EPOLL_CTL_MOD);
	tcp_pump(t, now, c->upstream);
}

void
tcp_writable(struct tcp_upstreams *t, monotime_t now,
    struct tcp_connection *c)
{
	if (c->state == TCP_OPENING) {
		socklen_t size = sizeof(int);
		int error = 0;

		if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
			error = errno;
		if (error != 0)
			tcp_over(t, now, c, TCP_END_PEER, -error);
		else
			tcp_opened(t, now, c);
		return;
	}
	tcp_flush(t, c);
	if (!c->blocked)
		tcp_pump(t, now, c->upstream);
}

/* The end */

/*
 * Questions were left when the server ended a connection that had answered one of
 * them at most: it may answer one on each connection, or refuse many at a time.
 */
static void
learn(struct tcp_upstream *u, monotime_t now, const struct tcp_connection *c)
{
	if (c->answers > 1)
		u->shorts = 0;
	if (c->answers > 1 || c->awaited == 0 || c->carried < 2)
		return;
	if (++u->shorts < SHORTS)
		return;
	u->once = c->answers == 1;
	u->alone_until = monotime_add_ms(now, ONCE_MS);
}

/* What was under way waits again if it may; else it failed. */
static void
take_back(struct tcp_upstreams *t, struct tcp_connection *c, enum tcp_end end,
    int error)
{
	const unsigned int most = end == TCP_END_PEER && c->carried > 1 ?
	    AGAIN_SHARED : AGAIN;
	struct tcp_upstream *u = c->upstream;
	struct stream_question *q;

	while ((q = TAILQ_FIRST(&c->sent)) != NULL) {
		if (q->again >= most) {
			stream_question_fail(&t->questions, q, error);
			continue;
		}
		stream_question_sent(&t->questions, q, 0);
		stream_question_move(q, &u->waiting);
		u->waits++;
		t->waits++;
		q->again++;
		q->answered = false;
		tcp_stats_of(t, u)->again++;
	}
}

void
tcp_over(struct tcp_upstreams *t, monotime_t now, struct tcp_connection *c,
    enum tcp_end end, int error)
{
	struct tcp_upstream *u = c->upstream;
	const bool was_open = c->state == TCP_OPEN;

	if (was_open && end == TCP_END_PEER)
		learn(u, now, c);
	/* Alone, each question tells whether the server can be reached. */
	u->retry = was_open || u->count == 1 || end == TCP_END_OURS ?
	    MONOTIME_NEVER : monotime_add_ms(now, RETRY_MS);
	if (tcp_is_tunnel(u))
		tcp_tunnel_over(t, now, c, end, error);
	take_out(t, c);
	take_back(t, c, end, error);
	if (!was_open && end == TCP_END_PEER && TAILQ_EMPTY(&u->connections))
		fail_waiting(t, u, error);
	tcp_pump(t, now, u);
	tcp_release(t, now, u);
}

void
tcp_end_all(struct tcp_upstreams *t, struct tcp_upstream *u)
{
	struct stream_question *q;
	struct tcp_connection *c;

	while ((c = TAILQ_FIRST(&u->connections)) != NULL) {
		while ((q = TAILQ_FIRST(&c->sent)) != NULL)
			stream_question_free(&t->questions, q);
		take_out(t, c);
	}
}

void
tcp_release(struct tcp_upstreams *t, monotime_t now, struct tcp_upstream *u)
{
	const bool known = u->parallel || tcp_is_alone(u, now) ||
	    u->failures > 0;

	if (u->waits > 0 || u->count > 0 ||
	    (known && t->upstream_count <= UPSTREAMS_KEPT))
		return;
	TAILQ_REMOVE(&t->upstreams, u, entry);
	TAILQ_REMOVE(&t->by_host[u->host], u, by_host);
	t->upstream_count--;
	free(u);
}
