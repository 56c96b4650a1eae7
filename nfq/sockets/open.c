/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/open.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t
address_of(const struct sockets_request *request, union address *address)
{
	memset(address, 0, sizeof(*address));
	if (request->family == AF_INET) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(request->port);
		memcpy(&address->v4.sin_addr, request->address, 4);
		return sizeof(address->v4);
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons(request->port);
	address->v6.sin6_scope_id = request->scope_id;
	memcpy(&address->v6.sin6_addr, request->address, 16);
	return sizeof(address->v6);
}

static int
switch_on(int fd, int level, int option)
{
	const int on = 1;

	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

/* 0 or a negative errno, as the one below. */
static int
begin_connection(int fd, const union address *to, socklen_t size,
    uint32_t mark)
{
	int error = switch_on(fd, IPPROTO_TCP, TCP_NODELAY);

	if (error == 0 && mark != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
		error = -errno;
	if (error == 0 && connect(fd, &to->any, size) < 0 &&
	    errno != EINPROGRESS)
		error = -errno;
	return error;
}

/* An address may be bound that is not there yet: IPv6 can be switched on. */
static int
bind_listener(int fd, const union address *to, socklen_t size)
{
	const bool v6 = to->any.sa_family == AF_INET6;
	int error = switch_on(fd, SOL_SOCKET, SO_REUSEADDR);

	if (error == 0)
		error = v6 ? switch_on(fd, SOL_IPV6, IPV6_FREEBIND) :
		    switch_on(fd, SOL_IP, IP_FREEBIND);
	if (error == 0 && v6)
		error = switch_on(fd, SOL_IPV6, IPV6_V6ONLY);
	if (error == 0 && bind(fd, &to->any, size) < 0)
		error = -errno;
	return error;
}

int
sockets_open(const struct sockets_request *request, uint32_t mark)
{
	const int type =
	    request->kind == SOCKETS_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(request->family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0), error = 0;
	union address to;
	socklen_t size = address_of(request, &to);

	if (fd < 0)
		return -errno;
	if (request->kind == SOCKETS_CONNECTION)
		error = begin_connection(fd, &to, size, mark);
	else if (request->kind == SOCKETS_LISTENER)
		error = bind_listener(fd, &to, size);
	if (error == 0)
		return fd;
	(void)close(fd);
	return error;
}
