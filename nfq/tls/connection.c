/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/tls/connection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

int
tls_connection_open(struct tls_connection *c, struct tls_context *context,
    uint32_t number, int fd, const struct tls_peer *peer)
{
	*c = (struct tls_connection){ .number = number, .fd = -1,
		.verified = { .peer = *peer } };
	c->ssl = tls_context_connection(context, &c->verified);
	if (c->ssl == NULL || SSL_set_fd(c->ssl, fd) != 1) {
		SSL_free(c->ssl);
		ERR_clear_error();
		c->ssl = NULL;
		return -ENOMEM;
	}
	c->fd = fd;
	return 0;
}

void
tls_connection_close(struct tls_connection *c)
{
	/* Says goodbye if that is possible at once (RFC 8446 section 6.1). */
	if (c->opened && c->end == TLS_END_PEER && c->why[0] == '\0')
		(void)SSL_shutdown(c->ssl);
	ERR_clear_error();
	SSL_free(c->ssl);
	frames_in_free(&c->in);
	frames_out_free(&c->out);
	if (c->fd >= 0)
		(void)close(c->fd);
	*c = (struct tls_connection){ .fd = -1 };
}

static int
over(struct tls_connection *c, enum tls_end end, const char *why)
{
	c->end = end;
	if (why != c->why)
		(void)snprintf(c->why, sizeof(c->why), "%s", why);
	return -ECONNRESET;
}

/* OpenSSL reported an error: 0 if it only has to wait. */
static int
failed(struct tls_connection *c, int result)
{
	const int saved = errno, what = SSL_get_error(c->ssl, result);
	enum tls_end end;

	if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
		ERR_clear_error();
		return 0;
	}
	end = tls_context_explain(c->ssl, result, saved, &c->verified, c->why);
	/* Before that, the server has said nothing that could be lost. */
	if (!c->opened && end == TLS_END_PEER)
		end = TLS_END_HANDSHAKE;
	return over(c, end, c->why);
}

static int
connect_work(struct tls_connection *c)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error != 0)
		return over(c, TLS_END_NETWORK, strerror(error));
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
		return failed(c, result);
	c->opened = true;
	return 0;
}

static int
write_work(struct tls_connection *c)
{
	const uint8_t *octets;
	size_t length;
	int result;

	for (;;) {
		octets = frames_out_octets(&c->out, &length);
		if (length == 0)
			return 0;
		ERR_clear_error();
		errno = 0;
		result = SSL_write(c->ssl, octets,
		    length > INT_MAX ? INT_MAX : (int)length);
		if (result <= 0)
			return failed(c, result);
		frames_out_sent(&c->out, (size_t)result);
	}
}

/* Reads up to the end of a message. */
static int
read_work(struct tls_connection *c)
{
	ssize_t length;
	uint8_t *to;
	size_t room;
	int result;

	c->more = false;
	while (c->message == NULL) {
		to = frames_in_room(&c->in, &room);
		if (to == NULL)
			return over(c, TLS_END_FULL, "out of memory");
		ERR_clear_error();
		errno = 0;
		result = SSL_read(c->ssl, to, (int)room);
		if (result <= 0)
			return failed(c, result);
		length = frames_in_took(&c->in, (size_t)result, &c->message);
		if (length < 0)
			return over(c, TLS_END_GARBAGE, "what came is no DNS");
		c->message_length = (size_t)length;
	}
	c->more = true;
	return 0;
}

int
tls_connection_ask(struct tls_connection *c, const uint8_t *message,
    size_t length)
{
	const int error = frames_out_put(&c->out, message, length);

	if (error == -ENOBUFS)
		return over(c, TLS_END_UNREAD, "the server does not read "
		    "questions");
	if (error < 0)
		return over(c, TLS_END_FULL, "out of memory");
	return c->opened ? write_work(c) : 0;
}

int
tls_connection_work(struct tls_connection *c)
{
	int error = 0;

	if (!c->connected)
		error = connect_work(c);
	if (error == 0 && !c->opened)
		error = handshake_work(c);
	if (error == 0 && c->opened)
		error = write_work(c);
	if (error == 0 && c->opened)
		error = read_work(c);
	return error;
}

uint32_t
tls_connection_events(const struct tls_connection *c)
{
	size_t waits;

	if (!c->connected)
		return EPOLLOUT;
	if (!c->opened)
		return SSL_want_write(c->ssl) ? EPOLLOUT : EPOLLIN;
	(void)frames_out_octets(&c->out, &waits);
	return (c->message == NULL ? EPOLLIN : 0) |
	    (waits > 0 ? EPOLLOUT : 0);
}
