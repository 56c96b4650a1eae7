/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/notify.h"

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

#include "resolver/fds.h"
#include "resolver/text/number.h"

/* $NOTIFY_SOCKET as an address.  Its length, 0 if there is none, or -EINVAL. */
static int
manager_address(struct sockaddr_un *to)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length;

	if (path == NULL || path[0] == '\0')
		return 0;
	length = strlen(path);
	if ((path[0] != '/' && path[0] != '@') ||
	    length >= sizeof(to->sun_path))
		return -EINVAL;
	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(to->sun_path, path, length);
	/* "@name" stands for the abstract name "\0name", see unix(7). */
	if (path[0] == '@')
		to->sun_path[0] = '\0';
	return (int)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* For a process that must not open any more; -1: each message opens one. */
static int kept = -1;

static int
open_socket(void)
{
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int
notify_keep(void)
{
	const int fd = getenv("NOTIFY_SOCKET") != NULL ? open_socket() : -1;

	if (fd >= 0)
		kept = fd;
	return fd < -1 ? fd : 0;
}

static int
send_message(const struct msghdr *message)
{
	const int fd = kept >= 0 ? kept : open_socket();
	int error = 0;

	if (fd < 0)
		return fd;
	if (sendmsg(fd, message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		error = -errno;
	if (fd != kept)
		(void)close(fd);
	return error;
}

int
notify_with_fd(const char *state, int fd)
{
	union fds_ancillary ancillary;
	struct sockaddr_un to;
	struct iovec text = {
		.iov_base = (void *)(uintptr_t)state,	/* only read */
		.iov_len = strlen(state),
	};
	struct msghdr message = { .msg_name = &to, .msg_iov = &text,
		.msg_iovlen = 1 };
	int length = manager_address(&to);

	if (length <= 0)
		return length;
	message.msg_namelen = (socklen_t)length;
	fds_attach(&message, &ancillary, &fd, fd >= 0 ? 1 : 0);
	return send_message(&message);
}

int
notify(const char *state)
{
	return notify_with_fd(state, -1);
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

static bool
read_variable(const char *variable, uint64_t *value)
{
	const char *text = getenv(variable);

	return text != NULL && number_from_text(text, UINT64_MAX, value);
}

uint64_t
notify_watchdog_usec(void)
{
	uint64_t usec, pid;

	if (!read_variable("WATCHDOG_USEC", &usec))
		return 0;
	/* sd_watchdog_enabled(3): without WATCHDOG_PID any process may. */
	if (getenv("WATCHDOG_PID") != NULL &&
	    (!read_variable("WATCHDOG_PID", &pid) ||
	    pid != (uint64_t)getpid()))
		return 0;
	return usec;
}
