/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/sockets/open.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

socklen_t
sockets_address_make(union sockets_address *address, int family,
    const uint8_t octets[static 16], uint16_t port, uint32_t scope_id)
{
	memset(address, 0, sizeof(*address));
	if (family == AF_INET) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons(port);
		memcpy(&address->v4.sin_addr, octets, 4);
		return sizeof(address->v4);
	}
	address->v6.sin6_family = AF_INET6;
	address->v6.sin6_port = htons(port);
	address->v6.sin6_scope_id = scope_id;
	memcpy(&address->v6.sin6_addr, octets, 16);
	return sizeof(address->v6);
}

size_t
sockets_address_split(const union sockets_address *address,
    uint8_t octets[static 16], uint16_t *port)
{
	if (address->any.sa_family == AF_INET) {
		memcpy(octets, &address->v4.sin_addr, 4);
		*port = ntohs(address->v4.sin_port);
		return 4;
	}
	memcpy(octets, &address->v6.sin6_addr, 16);
	*port = ntohs(address->v6.sin6_port);
	return 16;
}

bool
sockets_address_same_host(const union sockets_address *a,
    const union sockets_address *b)
{
	return a->any.sa_family == AF_INET ?
	    a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr :
	    memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) == 0;
}

#define LEFT_MAX	64	/* datagrams that one socket is freed of */

static socklen_t
address_of(const struct sockets_request *request,
    union sockets_address *address)
{
	return sockets_address_make(address, request->family,
	    request->address, request->port, request->scope_id);
}

/* Port 0: connect(2) chooses one. */
static socklen_t
source_of(const struct sockets_request *request,
    union sockets_address *address)
{
	const uint32_t scope_id = request->scope_id != 0 ? request->scope_id :
	    request->device;
	const socklen_t size = sockets_address_make(address, request->family,
	    request->source, 0, 0);

	/* A link-local address needs its interface: RFC 4007 section 6. */
	if (request->family == AF_INET6 &&
	    request->source[0] == 0xfe && (request->source[1] & 0xc0) == 0x80)
		address->v6.sin6_scope_id = scope_id;
	return size;
}

static int
switch_on(int fd, int level, int option)
{
	const int on = 1;

	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

/*
 * Whether the kernel chooses this source for an unbound socket to that address.
 * connect(2) of a UDP socket sends nothing.
 */
static bool
is_usual_source(const union sockets_address *source,
    const union sockets_address *to, socklen_t size, uint32_t mark)
{
	union sockets_address usual = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t length = sizeof(usual);
	int fd = socket(to->any.sa_family,
	    SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is;

	if (fd < 0)
		return true;		/* cannot be determined */
	is = (mark == 0 || setsockopt(fd, SOL_SOCKET, SO_MARK, &mark,
	    sizeof(mark)) == 0) && connect(fd, &to->any, size) == 0 &&
	    getsockname(fd, &usual.any, &length) == 0 &&
	    sockets_address_same_host(source, &usual);
	(void)close(fd);
	return is;
}

/*
 * Gives the connection the source and the way of the client's packet.  This and the
 * functions below: 0 or a negative errno.
 */
static int
bind_source(int fd, const struct sockets_request *request,
    const union sockets_address *to, socklen_t to_size, uint32_t mark)
{
	const int device = (int)request->device;
	union sockets_address source;
	const socklen_t size = source_of(request, &source);
	int error = 0;

	if (device != 0 && !is_usual_source(&source, to, to_size, mark) &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &device,
	    sizeof(device)) < 0)
		error = -errno;
	/* A port is taken at connect(2): 28,000 for each nameserver. */
	if (error == 0)
		error = switch_on(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT);
	if (error == 0 && bind(fd, &source.any, size) < 0)
		error = -errno;
	return error;
}

/*
 * A connection of our own, for one question, is closed when its answer was read.
 * Its port would be taken for 60 s after that (TIME_WAIT), and among 14,000 such
 * ports connect(2) searches for milliseconds (__inet_hash_connect() in
 * net/ipv4/inet_hashtables.c), so it is reset.
 */
static int
end_at_once(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) < 0 ?
	    -errno : 0;
}

static int
begin_connection(int fd, const struct sockets_request *request, uint32_t mark)
{
	union sockets_address to;
	const socklen_t size = address_of(request, &to);
	int error = switch_on(fd, IPPROTO_TCP, TCP_NODELAY);

	if (error == 0 && mark != 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0)
		error = -errno;
	if (error == 0 && request->has_source)
		error = bind_source(fd, request, &to, size, mark);
	else if (error == 0)
		error = end_at_once(fd);
	if (error == 0 && connect(fd, &to.any, size) < 0 &&
	    errno != EINPROGRESS)
		error = -errno;
	return error;
}

/* The address need not exist yet: IPv6 may be switched on later. */
static int
bind_listener(int fd, const struct sockets_request *request)
{
	const bool v6 = request->family == AF_INET6;
	union sockets_address to;
	const socklen_t size = address_of(request, &to);
	/* One that the kernel chooses must not be shared with another socket. */
	int error = request->port != 0 ?
	    switch_on(fd, SOL_SOCKET, SO_REUSEADDR) : 0;

	if (error == 0)
		error = v6 ? switch_on(fd, SOL_IPV6, IPV6_FREEBIND) :
		    switch_on(fd, SOL_IP, IP_FREEBIND);
	if (error == 0 && v6)
		error = switch_on(fd, SOL_IPV6, IPV6_V6ONLY);
	if (error == 0 && bind(fd, &to.any, size) < 0)
		error = -errno;
	return error;
}

/* Nothing is sent by it. */
int
sockets_reconnect(int fd, const struct sockets_request *request)
{
	union sockets_address to;
	const socklen_t size = address_of(request, &to);

	return connect(fd, &to.any, size) < 0 ? -errno : 0;
}

/*
 * A port that bind(2) did not choose is given up, too: __udp_disconnect() in
 * net/ipv4/udp.c.
 */
int
sockets_release_port(int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none)) < 0 ? -errno : 0;
}

int
sockets_keep_source(int fd)
{
	union sockets_address source = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(source);
	int error;

	if (getsockname(fd, &source.any, &size) < 0)
		return -errno;
	error = sockets_release_port(fd);
	if (error == 0)
		error = switch_on(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT);
	if (error < 0)
		return error;
	if (source.any.sa_family == AF_INET)
		source.v4.sin_port = 0;
	else
		source.v6.sin6_port = 0;
	return bind(fd, &source.any, size) < 0 ? -errno : 0;
}

int
sockets_drain(int fd)
{
	uint8_t octet;

	for (int i = 0; i < LEFT_MAX; i++)
		if (recv(fd, &octet, sizeof(octet), MSG_DONTWAIT) < 0 &&
		    (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
	return -EBUSY;
}

int
sockets_open(const struct sockets_request *request, uint32_t mark)
{
	const int type =
	    request->kind == SOCKETS_DATAGRAM ||
	    request->kind == SOCKETS_ASKING ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(request->family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0), error = 0;

	if (fd < 0)
		return -errno;
	if (request->kind == SOCKETS_CONNECTION) {
		error = begin_connection(fd, request, mark);
	} else if (request->kind == SOCKETS_LISTENER) {
		error = bind_listener(fd, request);
	} else if (request->kind == SOCKETS_ASKING) {
		if (mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark,
		    sizeof(mark)) < 0)
			error = -errno;
		else
			error = sockets_reconnect(fd, request);
	}
	if (error == 0)
		return fd;
	(void)close(fd);
	return error;
}
