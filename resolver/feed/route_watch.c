/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define MESSAGES_A_STEP 64

int
route_watch_open(void)
{
	const struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
		    RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    NETLINK_ROUTE);
	int error;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&groups, sizeof(groups)) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

bool
route_watch_take(int fd)
{
	bool changed = false;
	char octet;

	for (int i = 0; i < MESSAGES_A_STEP; i++) {
		/* The rest of each is thrown away. */
		if (recv(fd, &octet, sizeof(octet), 0) < 0 && errno != ENOBUFS)
			break;
		changed = true;
	}
	return changed;
}

static bool
same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	struct sockaddr_in in[2];
	struct sockaddr_in6 in6[2];

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET) {
		memcpy(&in[0], a, sizeof(in[0]));
		memcpy(&in[1], b, sizeof(in[1]));
		return in[0].sin_addr.s_addr == in[1].sin_addr.s_addr;
	}
	memcpy(&in6[0], a, sizeof(in6[0]));
	memcpy(&in6[1], b, sizeof(in6[1]));
	return IN6_ARE_ADDR_EQUAL(&in6[0].sin6_addr, &in6[1].sin6_addr);
}

/* Whether a socket could not have that address: EADDRINUSE is another matter. */
static bool
is_foreign(const struct sockaddr_storage *address)
{
	int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool foreign;

	if (fd < 0)
		return false;
	foreign = bind(fd, (const struct sockaddr *)address,
	    sizeof(*address)) != 0 && errno == EADDRNOTAVAIL;
	(void)close(fd);
	return foreign;
}

/* Whether what is sent to that peer now leaves with that address. */
static bool
is_chosen(const struct sockaddr_storage *address,
    const struct sockaddr_storage *peer)
{
	int fd = socket(peer->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage own;
	socklen_t length = sizeof(own);
	bool chosen;

	if (fd < 0)
		return true;
	memset(&own, 0, sizeof(own));
	chosen = connect(fd, (const struct sockaddr *)peer,
	    sizeof(*peer)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own, &length) == 0 &&
	    same_address(&own, address);
	(void)close(fd);
	return chosen;
}

enum route_state
route_of(int fd)
{
	struct sockaddr_storage own, peer;
	socklen_t own_length = sizeof(own), peer_length = sizeof(peer);

	memset(&own, 0, sizeof(own));
	memset(&peer, 0, sizeof(peer));
	if (getsockname(fd, (struct sockaddr *)&own, &own_length) != 0 ||
	    (own.ss_family != AF_INET && own.ss_family != AF_INET6))
		return ROUTE_GOOD;
	if (is_foreign(&own))
		return ROUTE_LOST;
	if (getpeername(fd, (struct sockaddr *)&peer, &peer_length) != 0)
		return ROUTE_GOOD;
	return is_chosen(&own, &peer) ? ROUTE_GOOD : ROUTE_OTHER;
}
