/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the worker and its thread of streams may do. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cap-ng.h>
#include <linux/capability.h>

#include "nfq/process/sandbox.h"
#include "tests/unit/nfq/process/in_child.h"

static int
worker_who_am_i(void)
{
	if (sandbox_worker_privileges(NOBODY, NOBODY) < 0)
		return SETUP;
	if (getuid() != NOBODY || getgid() != NOBODY || setuid(0) == 0 ||
	    getgroups(0, NULL) != 0)
		return 1;
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN))
		return 2;
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (i != CAP_NET_ADMIN &&
		    (capng_have_capability(CAPNG_PERMITTED, i) ||
		    capng_have_capability(CAPNG_BOUNDING_SET, i)))
			return 3;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return 4;
	return DONE;
}

TEST(worker_has_one_capability)
{
	if (geteuid() != 0) {
		test_skipped_here = "needs root";
		return;
	}
	CHECK(ended_well(in_child(worker_who_am_i)));
}

static pthread_barrier_t confined;

/* Waits until the other thread has confined both, then makes a socket. */
static void *
talk(void *nothing)
{
	(void)pthread_barrier_wait(&confined);
	(void)socket(AF_UNIX, SOCK_DGRAM, 0);
	return nothing;
}

static int
worker_with_thread(void)
{
	pthread_t thread;

	(void)pthread_barrier_init(&confined, NULL, 2);
	if (pthread_create(&thread, NULL, talk, NULL) != 0 ||
	    sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)pthread_barrier_wait(&confined);
	(void)pthread_join(thread, NULL);
	return 1;
}

static int
worker_as_allowed(void)
{
	int ends[2];
	char octet;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0 ||
	    sandbox_worker_seccomp() < 0)
		return SETUP;
	if (send(ends[0], "x", 1, 0) != 1 || recv(ends[1], &octet, 1, 0) != 1)
		return 1;
	free(malloc((size_t)1 << 20));
	return DONE;
}

/* With TCP: sockets of the Internet, but of no other family. */
static int
stream_as_allowed(void)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	struct ifreq lo = { .ifr_ifindex = 1 };
	int fd;

	if (epoll < 0 || sandbox_worker_seccomp() < 0)
		return SETUP;
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	if (fd < 0)
		fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ||
	    epoll_wait(epoll, &event, 1, 0) < 0)
		return 1;
	(void)shutdown(fd, SHUT_RDWR);
	/* An interface's name, and nothing else of ioctl(2). */
	if (ioctl(fd, SIOCGIFNAME, &lo) < 0 || strcmp(lo.ifr_name, "lo") != 0)
		return 2;
	return ioctl(fd, SIOCGIFFLAGS, &lo) < 0 && errno == EACCES ? DONE : 3;
}

static int
stream_and_other_sockets(void)
{
	if (sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)socket(AF_UNIX, SOCK_STREAM, 0);
	return 1;
}

/* TCP Fast Open connects without connect(2), which nothing here does. */
static int
stream_and_sendto(void)
{
	const struct sockaddr_in somewhere = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)sendto(fd, "x", 1, MSG_FASTOPEN,
	    (const struct sockaddr *)&somewhere, sizeof(somewhere));
	return 1;
}

static int
stream_and_sendmsg(void)
{
	const struct msghdr message = { .msg_namelen = 0 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)sendmsg(fd, &message, MSG_FASTOPEN | MSG_NOSIGNAL);
	return 1;
}

static int
worker_and_exec(void)
{
	char *arguments[] = { NULL };

	if (sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)execve("/bin/true", arguments, arguments);
	return 1;
}

/* Its own threads it may send signals to: abort(3) does. */
static int
worker_and_own_signal(void)
{
	if (sandbox_worker_seccomp() < 0 ||
	    syscall(SYS_tgkill, getpid(), gettid(), 0) != 0)
		return SETUP;
	return fcntl(STDERR_FILENO, F_GETFL) >= 0 ? DONE : 1;
}

static int
worker_and_other_signal(void)
{
	const pid_t parent = getppid();

	if (sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)syscall(SYS_tgkill, parent, parent, 0);
	return 1;
}

/* The kernel would send it, to whoever owns a descriptor that has news. */
static int
worker_and_owner_of_signals(void)
{
	const pid_t parent = getppid();

	if (sandbox_worker_seccomp() < 0)
		return SETUP;
	(void)fcntl(STDERR_FILENO, F_SETOWN, parent);
	return 1;
}

TEST(worker_calls_are_restricted)
{
	CHECK(ended_well(in_child(worker_and_own_signal)));
	CHECK(died_of(in_child(worker_and_other_signal), SIGSYS));
	CHECK(died_of(in_child(worker_and_owner_of_signals), SIGSYS));
	CHECK(ended_well(in_child(worker_as_allowed)));
	CHECK(died_of(in_child(worker_and_exec), SIGSYS));
	CHECK(ended_well(in_child(stream_as_allowed)));
	CHECK(died_of(in_child(stream_and_other_sockets), SIGSYS));
	CHECK(died_of(in_child(stream_and_sendto), SIGSYS));
	CHECK(died_of(in_child(stream_and_sendmsg), SIGSYS));
	/* Threads that were there before are restricted too. */
	CHECK(died_of(in_child(worker_with_thread), SIGSYS));
}
