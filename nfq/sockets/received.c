/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/received.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/sockets/address.h"

static bool
has_option(int fd, int option, int wanted)
{
	socklen_t size = sizeof(int);
	int value = 0;

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 &&
	    value == wanted;
}

static bool
is_address(const union sockets_address *found,
    const struct sockets_request *request)
{
	union sockets_address wanted;

	(void)sockets_address_make(&wanted, request->family, request->address,
	    request->port, request->scope_id);
	if (found->any.sa_family != request->family ||
	    !sockets_address_same_host(found, &wanted))
		return false;
	if (request->family == AF_INET)
		return found->v4.sin_port == wanted.v4.sin_port;
	return found->v6.sin6_port == wanted.v6.sin6_port &&
	    found->v6.sin6_scope_id == wanted.v6.sin6_scope_id;
}

int
sockets_check_peer(int fd, const struct sockets_request *request)
{
	union sockets_address peer = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(peer);

	if (getpeername(fd, &peer.any, &size) < 0)
		return errno == ENOTCONN ? -ENOTCONN : -EPROTO;
	return is_address(&peer, request) ? 0 : -EPROTO;
}

static bool
is_bound_as(int fd, const struct sockets_request *request)
{
	union sockets_address name = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(name);

	if (getsockname(fd, &name.any, &size) < 0)
		return false;
	if (request->port == 0 && name.any.sa_family == AF_INET)
		name.v4.sin_port = 0;
	else if (request->port == 0 && name.any.sa_family == AF_INET6)
		name.v6.sin6_port = 0;
	return is_address(&name, request);
}

static bool
is_for(int fd, const struct sockets_request *request)
{
	int error;

	switch (request->kind) {
	case SOCKETS_ASKING:
		return sockets_check_peer(fd, request) == 0;
	case SOCKETS_CONNECTION:
		error = sockets_check_peer(fd, request);
		/* Accepting connections, it would not be connected, either. */
		return error == 0 || (error == -ENOTCONN &&
		    has_option(fd, SO_ACCEPTCONN, 0));
	case SOCKETS_LISTENER:
		return is_bound_as(fd, request);
	default:
		return request->kind == SOCKETS_DATAGRAM;
	}
}

int
sockets_check(int fd, const struct sockets_request *request)
{
	const bool datagrams = request->kind == SOCKETS_ASKING ||
	    request->kind == SOCKETS_DATAGRAM;

	return has_option(fd, SO_DOMAIN, request->family) &&
	    has_option(fd, SO_PROTOCOL, datagrams ? IPPROTO_UDP :
	    IPPROTO_TCP) && is_for(fd, request) &&
	    fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : -EPROTO;
}

static void
close_with(int fd, struct linger how)
{
	/* Of what is no socket it has no such option, and need not. */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &how, sizeof(how));
	(void)close(fd);
}

void
sockets_discard(int fd)
{
	close_with(fd, (struct linger){ .l_onoff = 1 });
}

void
sockets_end(int fd)
{
	close_with(fd, (struct linger){ .l_onoff = 0 });
}
