/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections come in, as far as there are places for them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/stream_parts.h"

#define DNS_PORT	53
#define ACCEPTS		64	/* a round, of each listener */
#define LOOK_FOR_IDLE	64	/* connections, when a place is needed */

static struct stream_address
counted_address(const union stream_name *name)
{
	struct stream_address address = { { 0 } };
	uint8_t octets[16];
	uint16_t port;
	size_t length = stream_address_of(name, octets, &port);

	if (length == 4)
		memset(address.octets + 10, 0xff, 2);
	memcpy(address.octets + 16 - length, octets, length);
	return address;
}

/* Makes room by closing the connection that was idle longest. */
static bool
evict(struct stream *s)
{
	struct stream_connection *c = s->first;

	for (int i = 0; c != NULL && i < LOOK_FOR_IDLE; i++, c = c->next) {
		if (!stream_is_idle(c))
			continue;
		stream_count(s, STREAM_EVICTED);
		stream_close(s, c);
		return true;
	}
	return false;
}

/* Whether there is a place for a connection; counts it under its address. */
static bool
admit(struct stream *s, const struct stream_address *address)
{
	const struct config_stream *limits = &s->config->stream;

	if (stream_clients_add(s->clients, address) > limits->per_client) {
		stream_count(s, STREAM_OVER_CLIENT);
	} else if (s->count >= limits->connections && !evict(s)) {
		stream_count(s, STREAM_OVER_ALL);
	} else
		return true;
	(void)stream_clients_remove(s->clients, address);
	return false;
}

/* The nameserver's address, which is what the accepted socket has. */
static bool
read_name(int fd, struct stream_connection *c)
{
	socklen_t size = sizeof(c->name);
	uint8_t octets[16];
	uint16_t port;

	if (getsockname(fd, &c->name.any, &size) < 0)
		return false;
	(void)stream_address_of(&c->name, octets, &port);
	/* Another port: not intercepted, somebody asked for the listener. */
	if (port != DNS_PORT)
		return false;
	if (c->name.any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&c->name.v6.sin6_addr))
		c->name.v6.sin6_scope_id = c->peer.v6.sin6_scope_id;
	return true;
}

/* Takes fd over. */
static void
welcome(struct stream *s, int fd, const union stream_name *peer)
{
	struct stream_connection *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		(void)close(fd);
		return;
	}
	c->peer = *peer;
	if (!read_name(fd, c))
		goto refuse;
	c->address = counted_address(peer);
	if (!admit(s, &c->address))
		goto refuse;
	c->client = (struct stream_end){ ROLE_CLIENT, fd, 0, c };
	c->server = (struct stream_end){ ROLE_SERVER, -1, 0, c };
	c->active_ms = s->now_ms;
	stream_add(s, c);
	stream_settle(s, c);
	return;
refuse:
	(void)close(fd);
	free(c);
}

/* No descriptors: the listeners wait until the next tick. */
static void
pause_accepting(struct stream *s)
{
	if (evict(s))
		return;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], 0);
	s->paused = true;
}

void
stream_accept(struct stream *s, struct stream_end *listener)
{
	for (int i = 0; i < ACCEPTS; i++) {
		union stream_name peer;
		socklen_t size = sizeof(peer);
		int fd = accept4(listener->fd, &peer.any, &size,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			welcome(s, fd, &peer);
		else if (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM)
			pause_accepting(s);
		if (fd < 0)
			return;
	}
}
