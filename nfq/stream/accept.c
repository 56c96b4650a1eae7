/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver/dns/message.h"


/* The nameserver's address, which is what the accepted socket has. */
static bool
read_name(int fd, const union sockets_address *peer, union sockets_address *name)
{
	socklen_t size = sizeof(*name);
	uint8_t octets[16];
	uint16_t port;

	if (getsockname(fd, &name->any, &size) < 0)
		return false;
	(void)sockets_address_split(name, octets, &port);
	/* Another port: not intercepted, somebody asked for the listener. */
	if (port != DNS_PORT)
		return false;
	if (name->any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&name->v6.sin6_addr))
		name->v6.sin6_scope_id = peer->v6.sin6_scope_id;
	return true;
}

/* No descriptors: the listeners wait until the next tick. */
static void
pause_accepting(struct stream *s)
{
	if (stream_evict(s))
		return;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], 0);
	s->paused = true;
}

void
stream_accept_again(struct stream *s)
{
	if (!s->paused)
		return;
	s->paused = false;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], EPOLLIN);
}

bool
stream_accept(struct stream *s, struct stream_end *listener,
    struct stream_arrival *arrival)
{
	union sockets_address *peer = &arrival->peer;
	socklen_t size = sizeof(*peer);
	int fd;

	memset(arrival, 0, sizeof(*arrival));
	fd = accept4(listener->fd, &peer->any, &size,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			pause_accepting(s);
		return false;
	}
	arrival->fd = fd;
	if (!read_name(fd, peer, &arrival->name)) {
		(void)close(fd);
		arrival->fd = -1;
	}
	return true;
}
