/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * If the channel has no room, an answer stays in its connection, which is not
 * read any more: so what waits is bounded on all ways.
 */
#include "nfq/tls/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nfq/tls/connection.h"

#define EVENTS		32	/* of one round */
#define ORDERS		64	/* messages of the channel in one round */
#define ANSWERS		32	/* of one connection in one round */
#define CLOSED		1	/* result: the other side has closed the channel */

struct server {
	int channel;
	int epoll;
	bool full;			/* the channel has no room */
	uint32_t channel_events;
	struct tls_context *context;
	struct tls_connection connections[TLS_CONNECTIONS];
	size_t first;			/* whose turn it is after a full channel */
	uint8_t octets[TLS_MESSAGE_MAX];
};

/* 0; -EAGAIN: the channel is full; CLOSED; or another negative errno. */
static int
tell(struct server *s, enum tls_kind kind, uint32_t connection, uint8_t detail,
    const void *body, size_t length)
{
	uint8_t header[TLS_HEADER];
	int error;

	tls_message_write(header, kind, connection, detail);
	error = tls_channel_send(s->channel, header, body, length, -1);
	s->full = s->full || error == -EAGAIN;
	return error == -EPIPE || error == -ECONNRESET ? CLOSED : error;
}

/*
 * What epoll(7) reports; 0: nothing, not even an end, until there is room again.
 * This and the functions below: 0, or CLOSED or a negative errno, which end the
 * server.
 */
static int
set_events(const struct server *s, int fd, uint32_t *events, uint32_t wanted,
    void *who)
{
	struct epoll_event event = { .events = wanted, .data.ptr = who };
	const int how = *events == 0 ? EPOLL_CTL_ADD :
	    wanted == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	if (*events == wanted)
		return 0;
	if (epoll_ctl(s->epoll, how, fd, &event) < 0)
		return -errno;
	*events = wanted;
	return 0;
}

/* If the channel is full, the connection waits for that, too. */
static int
end_connection(struct server *s, struct tls_connection *c)
{
	const int error = tell(s, TLS_CLOSED, c->number, (uint8_t)c->end,
	    c->why, strnlen(c->why, TLS_TEXT - 1));

	if (error == 0)
		tls_connection_close(c);
	return error == -EAGAIN ? set_events(s, c->fd, &c->events, 0, c) :
	    error;
}

static int
announce(struct server *s, struct tls_connection *c)
{
	const int error = tell(s, TLS_OPENED, c->number,
	    (uint8_t)SSL_session_reused(c->ssl), NULL, 0);

	c->announced = error == 0;
	return error == -EAGAIN ? 0 : error;
}

/* Passes on the message that the connection has.  -EAGAIN: later. */
static int
pass_on(struct server *s, struct tls_connection *c)
{
	int error = 0;

	if (c->opened && !c->announced)
		error = announce(s, c);
	if (error == 0 && s->full)
		return -EAGAIN;
	if (error != 0 || c->message == NULL)
		return error;
	error = tell(s, TLS_ANSWER, c->number, 0, c->message,
	    c->message_length);
	if (error == 0)
		c->message = NULL;
	return error;
}

/* All that can be done for a connection now. */
static int
work(struct server *s, struct tls_connection *c)
{
	bool over = c->why[0] != '\0';
	int error = 0;

	for (unsigned int i = 0; i < ANSWERS && !over && error == 0; i++) {
		error = pass_on(s, c);
		if (error != 0)
			break;
		over = tls_connection_work(c) < 0;
		if (!over && c->message == NULL &&
		    (!c->opened || c->announced))
			break;
	}
	if (over)
		return end_connection(s, c);
	if (error != 0 && error != -EAGAIN)
		return error;
	return set_events(s, c->fd, &c->events, tls_connection_events(c), c);
}

static struct tls_connection *
find(struct server *s, uint32_t number)
{
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		if (s->connections[i].fd >= 0 &&
		    s->connections[i].number == number)
			return &s->connections[i];
	return NULL;
}

static struct tls_connection *
free_place(struct server *s)
{
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		if (s->connections[i].fd < 0)
			return &s->connections[i];
	return NULL;
}

/* The socket is ours. */
static int
open_connection(struct server *s, const struct tls_message *m, int fd)
{
	static const char no_room[] = "nfdns-tls has no room for it";
	struct tls_connection *c = free_place(s);
	struct tls_peer peer;
	int error;

	if (fd < 0 || find(s, m->connection) != NULL ||
	    tls_peer_parse(&peer, m->body, m->length) < 0) {
		if (fd >= 0)
			(void)close(fd);
		return -EPROTO;
	}
	error = c == NULL ? -ENOBUFS :
	    tls_connection_open(c, s->context, m->connection, fd, &peer);
	if (error == 0)
		return work(s, c);
	(void)close(fd);
	/* If the channel is full, the other side's deadline ends it. */
	error = tell(s, TLS_CLOSED, m->connection, TLS_END_FULL, no_room,
	    strlen(no_room));
	return error == -EAGAIN ? 0 : error;
}

static int
ask(struct server *s, const struct tls_message *m)
{
	struct tls_connection *c = find(s, m->connection);

	if (c == NULL || c->why[0] != '\0')
		return 0;		/* it is over, as the other side learns */
	if (tls_connection_ask(c, m->body, m->length) < 0)
		return end_connection(s, c);
	return set_events(s, c->fd, &c->events, tls_connection_events(c), c);
}

static int
obey(struct server *s, const uint8_t *octets, size_t length, int fd)
{
	struct tls_connection *c;
	struct tls_message m;

	if (tls_message_parse(&m, octets, length) == 0 && m.kind == TLS_OPEN)
		return open_connection(s, &m, fd);
	if (fd >= 0)
		(void)close(fd);
	if (fd >= 0 || tls_message_parse(&m, octets, length) < 0)
		return -EPROTO;
	if (m.kind == TLS_ASK)
		return ask(s, &m);
	if (m.kind != TLS_CLOSE)
		return -EPROTO;
	c = find(s, m.connection);
	if (c != NULL)
		tls_connection_close(c);
	return 0;
}

static int
take_orders(struct server *s)
{
	ssize_t length;
	int error = 0, fd;

	for (unsigned int i = 0; i < ORDERS && error == 0; i++) {
		length = tls_channel_receive(s->channel, s->octets, &fd);
		if (length == -EAGAIN)
			return 0;
		if (length == -ECONNRESET)
			return CLOSED;
		error = length < 0 ? (int)length :
		    obey(s, s->octets, (size_t)length, fd);
	}
	return error;
}

/* The channel has room again: those that waited for that go on, in turn. */
static int
resume(struct server *s)
{
	int error = 0;

	s->full = false;
	s->first = (s->first + 1) % TLS_CONNECTIONS;
	for (size_t i = 0; i < TLS_CONNECTIONS && error == 0; i++) {
		struct tls_connection *c =
		    &s->connections[(s->first + i) % TLS_CONNECTIONS];

		if (c->fd >= 0 && (c->message != NULL || c->why[0] != '\0' ||
		    (c->opened && !c->announced)))
			error = work(s, c);
	}
	return error;
}

/* Connections with octets that OpenSSL has read already: no event comes. */
static int
work_more(struct server *s, bool *more)
{
	int error = 0;

	*more = false;
	for (size_t i = 0; i < TLS_CONNECTIONS && error == 0; i++) {
		struct tls_connection *c = &s->connections[i];

		if (c->fd < 0 || !c->more || s->full)
			continue;
		error = work(s, c);
		*more = *more || (c->fd >= 0 && c->more && !s->full);
	}
	return error;
}

static int
do_round(struct server *s, bool *more)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(s->epoll, events, EVENTS, *more ? 0 : -1);
	int result = 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n && result == 0; i++) {
		struct tls_connection *c = events[i].data.ptr;

		if (c != NULL) {
			if (c->fd >= 0)
				result = work(s, c);
			continue;
		}
		if ((events[i].events & EPOLLOUT) != 0)
			result = resume(s);
		if (result == 0)
			result = take_orders(s);
	}
	if (result == 0)
		result = work_more(s, more);
	if (result == 0)
		result = set_events(s, s->channel, &s->channel_events,
		    EPOLLIN | (s->full ? EPOLLOUT : 0), NULL);
	return result;
}

int
tls_server_run(int channel, struct tls_context *context)
{
	struct server *s = calloc(1, sizeof(*s));
	bool more = false;
	int result;

	if (s == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		s->connections[i].fd = -1;
	s->channel = channel;
	s->context = context;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	result = s->epoll < 0 ? -errno : set_events(s, channel,
	    &s->channel_events, EPOLLIN, NULL);
	while (result == 0)
		result = do_round(s, &more);
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		if (s->connections[i].fd >= 0)
			tls_connection_close(&s->connections[i]);
	if (s->epoll >= 0)
		(void)close(s->epoll);
	free(s);
	return result == CLOSED ? 0 : result;
}
