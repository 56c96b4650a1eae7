/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nfq/tls/connection.h"

#define EVENTS		32	/* of one round */
#define ORDERS		64	/* messages of the channel in one round */
#define CLOSED		1	/* result: the other side has closed the channel */

struct server {
	int channel;
	int epoll;
	struct tls_context *context;
	struct tls_connection connections[TLS_CONNECTIONS];
	uint8_t octets[TLS_MESSAGE_MAX];
};

/* The first message of its stream, which has room for it; nobody may read it. */
static void
tell(int stream, enum tls_status status, const char *why)
{
	uint8_t header[TLS_HEADER];

	tls_message_write(header, TLS_STATUS, status);
	(void)!tls_channel_send(stream, header, why, strnlen(why, TLS_TEXT - 1),
	    NULL);
}

/*
 * What epoll(7) reports of a server; 0: nothing, not even an end, until there is room
 * again.  This and the functions below: 0, or CLOSED or a negative errno, which end
 * the process.
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

/* The same of a connection's stream, whose end by the other process always shows. */
static int
set_stream_events(const struct server *s, struct tls_connection *c)
{
	struct epoll_event event = { .events = tls_connection_stream_events(c),
		.data.ptr = &c->stream };

	if (c->stream_events == event.events)
		return 0;
	c->stream_events = event.events;
	return epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->stream, &event) < 0 ?
	    -errno : 0;
}

/* The other process may have copies: closing alone would leave them in the epoll. */
static void
drop(const struct server *s, struct tls_connection *c)
{
	if (c->events != 0)
		(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->stream, NULL);
	tls_connection_close(c);
}

/* All that can be done for a connection now. */
static int
work(struct server *s, struct tls_connection *c)
{
	int error;

	if (tls_connection_work(c) < 0) {
		if (!c->announced && c->why[0] != '\0')
			tell(c->stream, c->status, c->why);
		drop(s, c);
		return 0;
	}
	if (c->opened && !c->announced) {
		tell(c->stream, SSL_session_reused(c->ssl) ? TLS_RESUMED :
		    TLS_OPENED, "");
		c->announced = true;
	}
	error = set_events(s, c->fd, &c->events, tls_connection_events(c), c);
	return error == 0 ? set_stream_events(s, c) : error;
}

static struct tls_connection *
free_place(struct server *s)
{
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		if (s->connections[i].fd < 0)
			return &s->connections[i];
	return NULL;
}

/* 0, or a negative errno: descriptors that are not closed stay the caller's. */
static int
begin(struct server *s, struct tls_connection *c, int *fds,
    const struct tls_peer *peer)
{
	struct epoll_event event = { .data.ptr = &c->stream };

	if (tls_connection_open(c, s->context, fds, peer) < 0)
		return -ENOMEM;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fds[1], &event) == 0)
		return 0;
	tls_connection_close(c);
	fds[0] = fds[1] = -1;
	return -EINVAL;
}

/* The descriptors are ours. */
static int
open_connection(struct server *s, const struct tls_message *m, int *fds)
{
	struct tls_connection *c = free_place(s);
	struct tls_peer peer;

	if (fds[0] < 0 || tls_peer_parse(&peer, m->body, m->length) < 0) {
		tls_channel_discard(fds);
		return -EPROTO;
	}
	if (c != NULL && begin(s, c, fds, &peer) == 0)
		return work(s, c);
	if (fds[1] >= 0)
		tell(fds[1], TLS_FULL, "nfdns-tls has no room for it");
	tls_channel_discard(fds);
	return 0;
}

static int
take_orders(struct server *s)
{
	struct tls_message m;
	int error = 0, fds[TLS_FDS];
	ssize_t length;

	for (unsigned int i = 0; i < ORDERS && error == 0; i++) {
		length = tls_channel_receive(s->channel, s->octets, fds);
		if (length == -EAGAIN)
			return 0;
		if (length < 0)
			return length == -ECONNRESET ? CLOSED : (int)length;
		if (tls_message_parse(&m, s->octets, (size_t)length) == 0 &&
		    m.kind == TLS_OPEN) {
			error = open_connection(s, &m, fds);
			continue;
		}
		tls_channel_discard(fds);
		error = -EPROTO;
	}
	return error;
}

/* Of a server, or of a stream: then its end ends all, as nobody reads any more. */
static int
take_event(struct server *s, const struct epoll_event *event)
{
	const uintptr_t at = (uintptr_t)event->data.ptr -
	    (uintptr_t)s->connections;
	struct tls_connection *c = &s->connections[at / sizeof(*c)];

	if (c->fd < 0)
		return 0;		/* closed earlier in this round */
	if (event->data.ptr == (void *)c ||
	    (event->events & (EPOLLHUP | EPOLLERR)) == 0)
		return work(s, c);
	drop(s, c);
	return 0;
}

static int
do_round(struct server *s)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(s->epoll, events, EVENTS, -1);
	int result = 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n && result == 0; i++) {
		if (events[i].data.ptr != NULL)
			result = take_event(s, &events[i]);
		else
			result = take_orders(s);
	}
	return result;
}

int
tls_server_run(int channel, struct tls_context *context)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct server *s = calloc(1, sizeof(*s));
	int result = 0;

	if (s == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		s->connections[i].fd = -1;
	s->channel = channel;
	s->context = context;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, channel, &event) < 0)
		result = -errno;
	while (result == 0)
		result = do_round(s);
	for (size_t i = 0; i < TLS_CONNECTIONS; i++)
		if (s->connections[i].fd >= 0)
			tls_connection_close(&s->connections[i]);
	if (s->epoll >= 0)
		(void)close(s->epoll);
	free(s);
	return result == CLOSED ? 0 : result;
}
