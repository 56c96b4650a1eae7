/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/listen.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/sockets/open.h"

/* What the kernel makes of it is min(this, net.core.somaxconn). */
#define BACKLOG 4096

struct sockets_request
stream_listen_request(size_t which, uint16_t port)
{
	struct sockets_request request = {
	    .kind = SOCKETS_LISTENER, .port = port};

	if (which == 0) {
		request.family = AF_INET;
		memcpy(request.address, (const uint8_t[]){ 127, 0, 0, 1 }, 4);
	} else {
		request.family = AF_INET6;
		request.address[15] = 1;
	}
	return request;
}

static bool
set(int fd, int level, int option, uint32_t value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* Accepted sockets inherit all of them. */
int
stream_listen_begin(int fd, size_t which, const struct config *config)
{
	if ((which == 0 ? set(fd, SOL_IP, IP_TRANSPARENT, 1) :
	    set(fd, SOL_IPV6, IPV6_TRANSPARENT, 1)) &&
	    set(fd, SOL_SOCKET, SO_MARK, config->capture.mark_answered) &&
	    set(fd, IPPROTO_TCP, TCP_NODELAY, 1) && listen(fd, BACKLOG) == 0)
		return 0;
	return -errno;
}

uint16_t
stream_listen_port(int fd, size_t which)
{
	const struct sockets_request wanted = stream_listen_request(which, 0);
	union sockets_address name = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(name);
	uint8_t octets[16];
	uint16_t port;
	size_t length;
	int listens = 0;

	if (getsockname(fd, &name.any, &size) < 0 ||
	    name.any.sa_family != wanted.family)
		return 0;
	size = sizeof(listens);
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 ||
	    listens == 0)
		return 0;
	length = sockets_address_split(&name, octets, &port);
	return memcmp(octets, wanted.address, length) == 0 ? port : 0;
}
