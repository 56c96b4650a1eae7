/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#define TURNS		4	/* buffers on each way, before others have their turn */

int
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

void
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

/* What the other process has written, and its end. */
static void
read_stream(struct tls_connection *c, struct tls_way *out)
{
	const ssize_t n = recv(c->stream, out->octets, sizeof(out->octets),
	    MSG_DONTWAIT);

	if (n > 0)
		out->end = (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		out->ended = true;
}

/* To the server.  Whether there may be more to do is in *again. */
static int
copy_out(struct tls_connection *c, bool *again)
{
	struct tls_way *out = &c->ways->out;
	int result;

	if (is_empty(out) && !out->ended)
		read_stream(c, out);
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

int
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

uint32_t
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

uint32_t
tls_connection_stream_events(const struct tls_connection *c)
{
	const struct tls_way *out = &c->ways->out, *in = &c->ways->in;

	if (c->why[0] != '\0')
		return 0;
	return (c->announced && is_empty(out) && !out->ended ? EPOLLIN : 0) |
	    (is_empty(in) ? 0 : EPOLLOUT);
}
