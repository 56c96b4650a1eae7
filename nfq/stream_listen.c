/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream_listen.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the kernel makes of it is min(this, net.core.somaxconn). */
#define BACKLOG 4096

static bool
set(int fd, int level, int option, uint32_t value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

static bool
set_options(int fd, int family, uint32_t mark)
{
	if (family == AF_INET6 && (!set(fd, SOL_IPV6, IPV6_V6ONLY, 1) ||
	    !set(fd, SOL_IPV6, IPV6_TRANSPARENT, 1)))
		return false;
	if (family == AF_INET && !set(fd, SOL_IP, IP_TRANSPARENT, 1))
		return false;
	/* Accepted sockets inherit these. */
	return set(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
	    set(fd, SOL_SOCKET, SO_MARK, mark) &&
	    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static int
bind_loopback(int fd, int family, uint16_t port)
{
	const struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };

	if (family == AF_INET)
		return bind(fd, (const struct sockaddr *)&v4, sizeof(v4));
	return bind(fd, (const struct sockaddr *)&v6, sizeof(v6));
}

/* The fd or a negative errno. */
static int
open_one(int family, const struct config *config)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	if (set_options(fd, family, config->capture.mark_answered) &&
	    bind_loopback(fd, family, config->stream.port) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

static void
explain(const struct config *config, int family, int error, struct diag *diag)
{
	const char *host = family == AF_INET ? "127.0.0.1" : "[::1]";
	const char *remedy = error == -EADDRINUSE ?
	    "change stream.port, or stop the program that listens there" :
	    error == -EPERM ? "run as root or through systemd" :
	    "set capture.tcp = false";

	diag_add(diag, DIAG_ERROR, NULL, 0, "cannot listen for intercepted "
	    "connections at %s:%u: %s: %s", host, config->stream.port,
	    strerror(-error), remedy);
}

int
stream_listen(int fds[static STREAM_LISTENERS], const struct config *config,
    struct diag *diag)
{
	static const int families[STREAM_LISTENERS] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		fds[i] = -1;
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		int fd = open_one(families[i], config);

		if (fd == -EAFNOSUPPORT && families[i] == AF_INET6)
			continue;
		if (fd < 0) {
			explain(config, families[i], fd, diag);
			stream_listen_close(fds);
			return fd;
		}
		fds[i] = fd;
	}
	return 0;
}

void
stream_listen_close(int fds[static STREAM_LISTENERS])
{
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}
