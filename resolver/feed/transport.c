/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

int
transport_connect(struct transport *transport,
    const struct resolve_address *address)
{
	const int on = 1;
	int fd = socket(address->address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return -errno;
	/* An ACK of ours waits for nothing. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (const struct sockaddr *)&address->address,
	    address->length) != 0 && errno != EINPROGRESS)
		error = -errno;
	if (error != 0) {
		(void)close(fd);
		return error;
	}
	transport->fd = fd;
	return 0;
}

int
transport_connected(const struct transport *transport)
{
	socklen_t length = sizeof(int);
	int error;

	if (getsockopt(transport->fd, SOL_SOCKET, SO_ERROR, &error,
	    &length) != 0)
		return -errno;
	return -error;
}

int
transport_secure(struct transport *transport, SSL *ssl, bool offered)
{
	transport->ssl = ssl;
	transport->offered = offered;
	return SSL_set_fd(ssl, transport->fd) == 1 ? 0 : -ENOMEM;
}

/* What a call of OpenSSL that returned no octets means. */
static int
tls_result(struct transport *t, int result, char why[static FEED_TEXT])
{
	switch (SSL_get_error(t->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		t->wants_write = true;
		return -EAGAIN;
	default:
		t->trouble = tls_explain(t->ssl, result, t->offered, why);
		return -ECONNABORTED;
	}
}

static int
socket_result(char why[static FEED_TEXT])
{
	if (errno == EAGAIN || errno == EINTR)
		return -EAGAIN;
	(void)snprintf(why, FEED_TEXT, "%s", strerror(errno));
	return -ECONNABORTED;
}

int
transport_handshake(struct transport *transport, char why[static FEED_TEXT])
{
	int result;

	transport->wants_write = false;
	ERR_clear_error();
	errno = 0;
	result = SSL_connect(transport->ssl);
	if (result != 1)
		return tls_result(transport, result, why);
	if (tls_speaks_http2(transport->ssl))
		return 0;
	transport->trouble = TLS_TROUBLE_TLS;
	(void)snprintf(why, FEED_TEXT, "the server does not speak HTTP/2: it "
	    "did not choose \"h2\" (ALPN)");
	return -ECONNABORTED;
}

static ssize_t
read_tls(struct transport *t, void *octets, size_t size,
    char why[static FEED_TEXT])
{
	size_t n;
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_read_ex(t->ssl, octets, size, &n);
	if (result == 1)
		return (ssize_t)n;
	/* Many servers end without close_notify. */
	if (SSL_get_error(t->ssl, result) == SSL_ERROR_ZERO_RETURN)
		return 0;
	return tls_result(t, result, why);
}

ssize_t
transport_read(struct transport *transport, void *octets, size_t size,
    char why[static FEED_TEXT])
{
	ssize_t n;

	transport->wants_write = false;
	if (transport->ssl != NULL)
		return read_tls(transport, octets, size, why);
	n = recv(transport->fd, octets, size, 0);
	return n >= 0 ? n : socket_result(why);
}

ssize_t
transport_write(struct transport *transport, const void *octets,
    size_t length, char why[static FEED_TEXT])
{
	size_t written;
	ssize_t n;
	int result;

	if (transport->ssl == NULL) {
		n = send(transport->fd, octets, length, MSG_NOSIGNAL);
		return n >= 0 ? n : socket_result(why);
	}
	ERR_clear_error();
	errno = 0;
	result = SSL_write_ex(transport->ssl, octets, length, &written);
	return result == 1 ? (ssize_t)written :
	    tls_result(transport, result, why);
}

void
transport_close(struct transport *transport)
{
	SSL_free(transport->ssl);
	if (transport->fd >= 0)
		(void)close(transport->fd);
	*transport = (struct transport)TRANSPORT_INIT;
}
