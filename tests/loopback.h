/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server's socket on the loopback interface. */
#ifndef NFDNS_TESTS_LOOPBACK_H
#define NFDNS_TESTS_LOOPBACK_H

#include <string.h>
#include <sys/socket.h>

#include "nfq/sockets/open.h"
#include "policy/config/forward_settings.h"
#include "tests/image.h"

/* Of UDP, at a port that the kernel chooses; *at becomes that upstream. */
static inline int
loopback_server(int family, struct forward_upstream *at)
{
	uint8_t address[16] = { 127, 0, 0, 1 };
	const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union sockets_address here;
	socklen_t size;

	if (family == AF_INET6) {
		memset(address, 0, sizeof(address));
		address[15] = 1;
	}
	size = sockets_address_make(&here, family, address, 0, 0);
	MUST(fd >= 0 && bind(fd, &here.any, size) == 0);
	MUST(getsockname(fd, &here.any, &size) == 0);
	*at = (struct forward_upstream){ .family = (uint32_t)family,
		.port = ntohs(family == AF_INET ? here.v4.sin_port :
		    here.v6.sin6_port) };
	memcpy(at->address, address, sizeof(address));
	return fd;
}

#endif
