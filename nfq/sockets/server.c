/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/server.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/channel.h"
#include "nfq/sockets/message.h"
#include "nfq/sockets/open.h"
#include "policy/log.h"

/* One for the starting supervisor, one for its worker, and some spare. */
#define CHANNELS	16

struct channel {
	int fd;			/* -1: none */
	struct sockets_rights rights;
	bool refused;		/* a request, and it was logged */
};

/* The listener comes last: a channel may have become free by then. */
struct sockets {
	struct channel channels[CHANNELS];
	struct pollfd wait[CHANNELS + 1];
};

static void
refuse(struct channel *c, const struct sockets_request *request)
{
	if (!c->refused)
		log_warning("refused: a request for %s, port %u%s",
		    request->kind == SOCKETS_DATAGRAM	? "a UDP socket"
		    : request->kind == SOCKETS_LISTENER ? "a listener"
		    : request->kind == SOCKETS_UPSTREAM ? "an upstream"
							: "a connection",
		    request->port,
		    c->rights.restricted ? " (may have connections to port 53 "
		    "and to upstreams)" : "");
	c->refused = true;
}

/* Serves one request.  False: close this channel. */
static bool
serve(struct channel *c, const struct sockets_received *received)
{
	uint8_t answer[SOCKETS_ANSWER_LENGTH];
	struct sockets_request request;
	int fd, error;

	if (received->fd >= 0 || sockets_request_parse(&request,
				     received->octets, received->length) < 0) {
		log_warning("refused: a malformed request");
		return false;
	}
	if (request.kind == SOCKETS_RESTRICT) {
		c->rights.restricted = true;
		return true;
	}
	fd = sockets_request_permit(&request, &c->rights);
	if (fd == 0 && request.kind == SOCKETS_UPSTREAM) {
		c->rights.upstreams[c->rights.upstream_count++] = request;
		return true;
	}
	if (fd == 0)
		fd = sockets_open(&request, 0);
	else
		refuse(c, &request);
	sockets_answer_write(fd < 0 ? -fd : 0, answer);
	/* A client that does not read its answers loses its channel. */
	error = sockets_channel_send(
	    c->fd, answer, sizeof(answer), fd < 0 ? -1 : fd);
	if (fd >= 0)
		(void)close(fd);
	return error == 0;
}

/* Takes one request, so that each channel has its turn. */
static void
take_request(struct channel *c)
{
	struct sockets_received received;
	int error = sockets_channel_receive(c->fd, &received);
	bool goes_on = error == -EAGAIN;

	if (error == 0) {
		goes_on = serve(c, &received);
		if (received.fd >= 0)
			(void)close(received.fd);
	}
	if (goes_on)
		return;
	(void)close(c->fd);
	*c = (struct channel){ .fd = -1 };
}

static bool
is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    (peer.uid == geteuid() || peer.uid == 0);
}

/* 0, or a negative errno after which the server cannot go on. */
static int
take_channel(struct sockets *o, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR ||
		    errno == ECONNABORTED ? 0 : -errno;
	for (size_t i = 0; i < CHANNELS && is_ours(fd); i++) {
		if (o->channels[i].fd < 0) {
			o->channels[i] = (struct channel){ .fd = fd };
			return 0;
		}
	}
	(void)close(fd);
	return 0;
}

int
sockets_run(int listener)
{
	struct sockets o;
	int error = 0;

	for (size_t i = 0; i < CHANNELS; i++)
		o.channels[i] = (struct channel){ .fd = -1 };
	while (error == 0) {
		for (size_t i = 0; i < CHANNELS; i++)
			o.wait[i] = (struct pollfd){ .fd = o.channels[i].fd,
				.events = POLLIN };
		o.wait[CHANNELS] = (struct pollfd){ .fd = listener,
			.events = POLLIN };
		if (poll(o.wait, CHANNELS + 1, -1) < 0) {
			error = errno == EINTR ? 0 : -errno;
			continue;
		}
		for (size_t i = 0; i < CHANNELS; i++)
			if (o.wait[i].revents != 0)
				take_request(&o.channels[i]);
		if (o.wait[CHANNELS].revents != 0)
			error = take_channel(&o, listener);
	}
	return error;
}
