/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/server.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "nfq/tls/message.h"

/*
 * One connection over TLS: the handshake, then octets both ways between a stream of
 * the other process and the server.  No function waits.  Of each way there are
 * TLS_COPY octets at most; while they wait, nothing more is read on that way.  An end
 * on one side is an end on the other: either way may end before the other does.
 */

/* Octets on their way. */
struct tls_way {
	uint8_t octets[TLS_COPY];
	size_t begin, end;		/* what waits lies between these */
	bool ended;			/* no more comes */
	bool passed;			/* and the other side was told so */
};

struct tls_ways {
	struct tls_way out, in;		/* to the server, and from it */
};

struct tls_connection {
	int fd;				/* of the server; -1: this place is free */
	int stream;			/* of the other process */
	SSL *ssl;
	struct tls_verified verified;
	bool connected;			/* TCP's handshake is over */
	bool opened;			/* TLS's, too */
	bool announced;			/* the other process knows that */
	struct tls_ways *ways;
	uint32_t reads, writes;		/* event that OpenSSL waits for, to read or write */
	enum tls_status status;		/* once a function returned -ECONNRESET */
	char why[TLS_TEXT];
	uint32_t events, stream_events;	/* of epoll(7), wanted; 0: not in it */
};

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

#define TURNS		4	/* buffers on each way, before others have their turn */

/* Takes both descriptors.  0, or -ENOMEM: they stay the caller's. */
static int
tls_connection_open(struct tls_connection *c, struct tls_context *context,
    const int fds[static TLS_FDS], const struct tls_peer *peer)
{
	*c = (struct tls_connection){ .fd = -1,
		.verified = { .peer = *peer }, .reads = EPOLLIN,
		.writes = EPOLLOUT };
	c->ways = calloc(1, sizeof(*c->ways));
	c->ssl = tls_context_connection(context, &c->verified);
	if (c->ways == NULL || c->ssl == NULL ||
	    SSL_set_fd(c->ssl, fds[0]) != 1) {
		SSL_free(c->ssl);
		free(c->ways);
		ERR_clear_error();
		*c = (struct tls_connection){ .fd = -1 };
		return -ENOMEM;
	}
	c->fd = fds[0];
	c->stream = fds[1];
	return 0;
}

static void
tls_connection_close(struct tls_connection *c)
{
	/* Says goodbye if that is possible at once (RFC 8446 section 6.1). */
	if (c->opened && c->why[0] == '\0' && !c->ways->out.passed)
		(void)SSL_shutdown(c->ssl);
	ERR_clear_error();
	SSL_free(c->ssl);
	free(c->ways);
	(void)close(c->fd);
	(void)shutdown(c->stream, SHUT_RDWR);	/* should there be copies */
	(void)close(c->stream);
	*c = (struct tls_connection){ .fd = -1 };
}

static int
over(struct tls_connection *c, enum tls_status status, const char *why)
{
	c->status = status;
	if (why != c->why)
		(void)snprintf(c->why, sizeof(c->why), "%s", why);
	return -ECONNRESET;
}

#define ENDED	1	/* result: the server has ended the connection, as it may */

/* OpenSSL reported an error.  0 if it only has to wait, for the event in *waits. */
static int
failed(struct tls_connection *c, int result, uint32_t *waits)
{
	const int saved = errno, what = SSL_get_error(c->ssl, result);
	enum tls_status status;

	if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
		*waits = what == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT;
		ERR_clear_error();
		return 0;
	}
	status = tls_context_explain(c->ssl, result, saved, &c->verified,
	    c->why);
	if (status != TLS_ENDED || !c->opened)
		return over(c, status != TLS_ENDED ? status : TLS_FAILED,
		    c->why);
	c->why[0] = '\0';
	return ENDED;
}

static int
connect_work(struct tls_connection *c)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error != 0)
		return over(c, TLS_NETWORK, strerror(error));
	c->connected = true;
	return 0;
}

static int
handshake_work(struct tls_connection *c)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_connect(c->ssl);
	if (result != 1)
		return failed(c, result, &c->reads);
	c->opened = true;
	c->reads = EPOLLIN;
	return 0;
}

static bool
is_empty(const struct tls_way *way)
{
	return way->begin == way->end;
}

static void
took(struct tls_way *way, size_t count)
{
	way->begin += count;
	if (is_empty(way))
		way->begin = way->end = 0;
}

/* To the server.  Whether there may be more to do is in *again. */
static int
copy_out(struct tls_connection *c, bool *again)
{
	struct tls_way *out = &c->ways->out;
	int result;

	if (is_empty(out) && !out->ended) {
		const ssize_t n = recv(c->stream, out->octets,
		    sizeof(out->octets), MSG_DONTWAIT);

		/* What the other process has written, and its end. */
		if (n > 0)
			out->end = (size_t)n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			out->ended = true;
	}
	if (is_empty(out) && (!out->ended || out->passed))
		return 0;
	ERR_clear_error();
	errno = 0;
	if (is_empty(out)) {
		/* Only that way: the server may still answer. */
		out->passed = true;
		(void)SSL_shutdown(c->ssl);
		return 0;
	}
	result = SSL_write(c->ssl, out->octets + out->begin,
	    (int)(out->end - out->begin));
	if (result > 0) {
		took(out, (size_t)result);
		c->writes = EPOLLOUT;
		*again = true;
		return 0;
	}
	result = failed(c, result, &c->writes);
	if (result == ENDED) {
		/* Nobody takes it; what the server has sent may still come. */
		took(out, out->end - out->begin);
		out->ended = out->passed = true;
	}
	return result < 0 ? result : 0;
}

/* What the server has sent, and its end. */
static int
read_server(struct tls_connection *c, struct tls_way *in)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_read(c->ssl, in->octets, sizeof(in->octets));
	if (result > 0) {
		in->end = (size_t)result;
		c->reads = EPOLLIN;
		return 0;
	}
	result = failed(c, result, &c->reads);
	in->ended = result == ENDED;
	return result < 0 ? result : 0;
}

/* From the server. */
static int
copy_in(struct tls_connection *c, bool *again)
{
	struct tls_way *in = &c->ways->in;
	ssize_t n;

	if (is_empty(in) && !in->ended && read_server(c, in) < 0)
		return -ECONNRESET;
	if (is_empty(in) && in->ended && !in->passed) {
		in->passed = true;
		(void)shutdown(c->stream, SHUT_WR);
	}
	if (is_empty(in))
		return 0;
	n = send(c->stream, in->octets + in->begin, in->end - in->begin,
	    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 :
		    over(c, TLS_ENDED, "");
	took(in, (size_t)n);
	*again = true;
	return 0;
}

/*
 * Goes on with what can be done now, but no further than to the end of the handshake
 * before it is announced.  0, or -ECONNRESET: it is over, see status and why.
 */
static int
tls_connection_work(struct tls_connection *c)
{
	bool again = true;
	int error = 0;

	if (!c->connected)
		error = connect_work(c);
	if (error == 0 && !c->opened)
		error = handshake_work(c);
	for (int i = 0; i < TURNS && error == 0 && again && c->announced; i++) {
		again = false;
		error = copy_out(c, &again);
		if (error == 0)
			error = copy_in(c, &again);
	}
	if (error == 0 && c->ways->in.passed && c->ways->out.passed)
		return over(c, TLS_ENDED, "");
	return error;
}

/*
 * What epoll(7) has to report of the server or the stream before
 * tls_connection_work() can go on.
 */
static uint32_t
tls_connection_events(const struct tls_connection *c)
{
	const struct tls_way *out = &c->ways->out, *in = &c->ways->in;

	if (!c->connected)
		return EPOLLOUT;
	if (!c->opened)
		return c->reads;
	if (!c->announced)
		return 0;
	return (is_empty(in) && !in->ended ? c->reads : 0) |
	    (is_empty(out) ? 0 : c->writes);
}

static uint32_t
tls_connection_stream_events(const struct tls_connection *c)
{
	const struct tls_way *out = &c->ways->out, *in = &c->ways->in;

	if (c->why[0] != '\0')
		return 0;
	return (c->announced && is_empty(out) && !out->ended ? EPOLLIN : 0) |
	    (is_empty(in) ? 0 : EPOLLOUT);
}

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
