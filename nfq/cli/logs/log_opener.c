/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/logs/log_opener.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "nfq/cli/logs/log_octets.h"
#include "nfq/process/child.h"
#include "resolver/fds.h"

#define LOOK_MS		100

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* One octet and a descriptor; the reader takes them one by one. */
static bool
send_file(int socket, int fd)
{
	union fds_ancillary ancillary;
	struct iovec octet = { (char[]){ 0 }, 1 };
	struct msghdr message = { .msg_iov = &octet, .msg_iovlen = 1 };

	fds_attach(&message, &ancillary, &fd, 1);
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

/*
 * Sends the file at path if it is another, and not empty: nfdnsd writes to it
 * once it has written all to the one before.
 */
static void
look(int socket, const char *path, struct stat *known)
{
	struct stat now;
	int fd;

	if (stat(path, &now) < 0 || is_same(&now, known))
		return;
	fd = log_octets_open_file(path);
	if (fd < 0)
		return;
	if (fstat(fd, &now) == 0 && !is_same(&now, known) &&
	    now.st_size > 0 && send_file(socket, fd))
		*known = now;
	(void)close(fd);
}

static void
run(int socket, const char *path, int open)
{
	struct pollfd wait = { .fd = socket, .events = POLLIN };
	struct stat known = { .st_ino = 0 };

	(void)fstat(open, &known);
	if (child_isolate(&socket, 1) < 0)
		return;
	/* Nothing is sent to it: readable is closed. */
	while (poll(&wait, 1, LOOK_MS) == 0)
		look(socket, path, &known);
}

int
log_opener_start(const char *path, int open)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)close(pair[0]);
		run(pair[1], path, open);
		_exit(0);
	}
	(void)close(pair[1]);
	if (pid < 0) {
		const int error = -errno;

		(void)close(pair[0]);
		return error;
	}
	return pair[0];
}

int
log_opener_take(int socket)
{
	union fds_ancillary ancillary;
	char octet;
	struct iovec part = { &octet, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd = -1;

	fds_expect(&message, &ancillary, 1);
	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0 ||
	    fds_take(&message, &fd, 1) == 0)
		return -EAGAIN;
	return fd;
}
