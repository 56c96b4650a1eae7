/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int
notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length;
	ssize_t sent;
	int fd;

	if (path == NULL || path[0] == '\0')
		return 0;
	length = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, length);
	/* "@name" stands for the abstract name "\0name", see unix(7). */
	if (path[0] == '@')
		to.sun_path[0] = '\0';

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
	    (const struct sockaddr *)&to,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	if (sent < 0) {
		int error = -errno;

		(void)close(fd);
		return error;
	}
	(void)close(fd);
	return 0;
}

int
notify_reloading(void)
{
	struct timespec now;
	char state[64];

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(state, sizeof(state),
	    "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
	    (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	return notify(state);
}

/* Digits and nothing else. */
static int
parse_number(uint64_t *value, const char *text)
{
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno != 0 || *end != '\0' ? -EINVAL : 0;
}

uint64_t
notify_watchdog_usec(void)
{
	uint64_t usec, pid;

	if (parse_number(&usec, getenv("WATCHDOG_USEC")) < 0)
		return 0;
	/* sd_watchdog_enabled(3): without WATCHDOG_PID it is meant for anybody. */
	if (getenv("WATCHDOG_PID") != NULL &&
	    (parse_number(&pid, getenv("WATCHDOG_PID")) < 0 ||
	    pid != (uint64_t)getpid()))
		return 0;
	return usec;
}
