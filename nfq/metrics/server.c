/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/server.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALIVE_MS	1000
#define ACCEPT_MAX	16	/* in a row, then those who have one are served */

/* The user at the other end of a Unix socket. */
static uid_t
user_of(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int family = AF_UNSPEC;
	socklen_t family_size = sizeof(family);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &family_size) < 0 ||
	    family != AF_UNIX ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return PEERS_UNKNOWN;
	return peer.uid;
}

/* libmicrohttpd reads the end of the connection, and closes it. */
static void
end(struct http *http, const struct peer *peer, monotime_t now)
{
	(void)shutdown(peer->fd, SHUT_RDWR);
	http_run(http, now);
}

/* 0, or a negative errno after which there will be no connections. */
static int
take_connections(int listener, struct http *http, struct peers *peers,
    monotime_t now)
{
	for (int i = 0; i < ACCEPT_MAX; i++) {
		const int fd = accept4(listener, NULL, NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		const struct peer *victim;
		uid_t uid;

		if (fd < 0)
			return errno == EBADF || errno == EINVAL ||
			    errno == ENOTSOCK ? -errno : 0;
		uid = user_of(fd);
		victim = peers_victim(peers, uid);
		if (victim != NULL)
			end(http, victim, now);
		http_add(http, fd, uid, now);
	}
	return 0;
}

int
metrics_server_run(int listener, int alive, struct http *http,
    struct peers *peers)
{
	const uint64_t one = 1;
	monotime_t said = MONOTIME_NEVER;

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = listener, .events = POLLIN },
			{ .fd = http_fd(http), .events = POLLIN },
		};
		monotime_t now = monotime_now();
		const struct peer *peer;
		int error = 0;

		if (!monotime_is_set(said) ||
		    monotime_ms_since(now, said) >= ALIVE_MS) {
			(void)!write(alive, &one, sizeof(one));
			said = now;
		}
		if (poll(wait, 2, peers_wait(peers, now,
		    http_wait(http, ALIVE_MS))) < 0 && errno != EINTR)
			return -errno;
		now = monotime_now();
		/* First those who are there: their requests may have come. */
		http_run(http, now);
		if (wait[0].revents != 0)
			error = take_connections(listener, http, peers, now);
		if (error < 0)
			return error;
		while ((peer = peers_overdue(peers, now)) != NULL)
			end(http, peer, now);
	}
}
