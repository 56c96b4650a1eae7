/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In place of nfq/sockets/received.c, in one file of a program: nameservers are ends
 * of socket pairs.
 */
#ifndef NFDNS_TESTS_ANY_SOCKET_H
#define NFDNS_TESTS_ANY_SOCKET_H

#include <unistd.h>

#include "nfq/sockets/received.h"

int
sockets_check(int fd, const struct sockets_request *request)
{
	(void)request;
	return fd >= 0 ? 0 : -1;
}

int
sockets_check_peer(int fd, const struct sockets_request *request)
{
	return sockets_check(fd, request);
}

void
sockets_discard(int fd)
{
	(void)close(fd);
}

void
sockets_end(int fd)
{
	(void)close(fd);
}

#endif
