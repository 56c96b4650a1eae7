/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each thing is tried in a child, which may die of it. */
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cap-ng.h>
#include <linux/capability.h>

#include "nfq/process/child.h"
#include "nfq/process/sandbox.h"

#define NOBODY	65534
#define DONE	0
#define SETUP	99		/* the sandbox itself failed */

/* How a child ended that ran "what". */
static int
in_child(int (*what)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(what());
	CHECK(child_reap(pid, &status) == 0);
	return status;
}

static bool
ended_well(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == DONE;
}

static bool
died_of(int status, int number)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static bool
compiler_confined(void)
{
	return sandbox_compiler_privileges(NOBODY, NOBODY) == 0 &&
	    sandbox_compiler_seccomp() == 0;
}

static int
compile_as_allowed(void)
{
	int fd = memfd_create("test", 0);
	struct stat st;
	char *memory;

	if (!compiler_confined())
		return SETUP;
	memory = malloc((size_t)64 << 20);
	if (memory == NULL || ftruncate(fd, 4096) < 0 ||
	    write(fd, "x", 1) != 1 || lseek(fd, 0, SEEK_SET) != 0 ||
	    read(fd, memory, 1) != 1 || fstat(fd, &st) < 0)
		return 1;
	free(memory);
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	return memory != MAP_FAILED && memory[0] == 'x' ? DONE : 2;
}

static int
compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* qsort(3) of glibc asks for the size of the memory from 1 KiB on. */
static int
compile_and_sort(void)
{
	static int numbers[1000];

	if (!compiler_confined())
		return SETUP;
	for (int i = 0; i < 1000; i++)
		numbers[i] = 1000 - i;
	qsort(numbers, 1000, sizeof(numbers[0]), compare_numbers);
	return numbers[0] == 1 ? DONE : 1;
}

static int
compile_and_open(void)
{
	if (!compiler_confined())
		return SETUP;
	return open("/etc/passwd", O_RDONLY) < 0 ? DONE : 1;
}

static int
compile_and_talk(void)
{
	if (!compiler_confined())
		return SETUP;
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 1 : 2;
}

static int
compile_and_fork(void)
{
	if (!compiler_confined())
		return SETUP;
	return fork() < 0 ? 1 : 2;
}

static int
compile_and_execute(void)
{
	char *arguments[] = { NULL };

	if (!compiler_confined())
		return SETUP;
	(void)execve("/bin/true", arguments, arguments);
	return 1;
}

static int
compile_code(void)
{
	if (!compiler_confined())
		return SETUP;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 1 : 2;
}

static int
compile_five_gibibytes(void)
{
	const size_t size = (size_t)5 << 30;

	if (!compiler_confined())
		return SETUP;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? DONE : 1;
}

static void
compiler_may_do_its_work(void)
{
	CHECK(ended_well(in_child(compile_as_allowed)));
	CHECK(ended_well(in_child(compile_and_sort)));
}

static void
compiler_may_do_nothing_else(void)
{
	CHECK(ended_well(in_child(compile_and_open)));
	CHECK(died_of(in_child(compile_and_talk), SIGSYS));
	CHECK(died_of(in_child(compile_and_fork), SIGSYS));
	CHECK(died_of(in_child(compile_and_execute), SIGSYS));
	CHECK(died_of(in_child(compile_code), SIGSYS));
	CHECK(ended_well(in_child(compile_five_gibibytes)));
}

static int
compiler_who_am_i(void)
{
	struct rlimit cpu, core, files;
	const bool root = geteuid() == 0;

	if (sandbox_compiler_privileges(NOBODY, NOBODY) < 0)
		return SETUP;
	if (root && (getuid() != NOBODY || geteuid() != NOBODY ||
	    getgid() != NOBODY || setuid(0) == 0))
		return 1;
	if (getrlimit(RLIMIT_CPU, &cpu) < 0 ||
	    getrlimit(RLIMIT_CORE, &core) < 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    cpu.rlim_cur > SANDBOX_COMPILER_CPU_S || core.rlim_cur != 0 ||
	    files.rlim_cur > 4096)
		return 2;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return 3;
	return capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE ?
	    DONE : 4;
}

static void
compiler_is_nobody(void)
{
	CHECK(ended_well(in_child(compiler_who_am_i)));
}

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

static void
worker_has_one_capability(void)
{
	CHECK(ended_well(in_child(worker_who_am_i)));
}

static pthread_barrier_t confined;

/* Waits until the other thread has confined both, then makes a socket. */
static void *
talk(void *nothing)
{
	(void)pthread_barrier_wait(&confined);
	(void)socket(AF_INET, SOCK_DGRAM, 0);
	return nothing;
}

static int
worker_with_thread(void)
{
	pthread_t thread;

	(void)pthread_barrier_init(&confined, NULL, 2);
	if (pthread_create(&thread, NULL, talk, NULL) != 0 ||
	    sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0)
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
	    sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0)
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
	int fd;

	if (epoll < 0 || sandbox_worker_seccomp(SANDBOX_TCP_CONNECTS) < 0)
		return SETUP;
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	if (fd < 0)
		fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ||
	    epoll_wait(epoll, &event, 1, 0) < 0)
		return 1;
	(void)shutdown(fd, SHUT_RDWR);
	return DONE;
}

static int
stream_and_other_sockets(void)
{
	if (sandbox_worker_seccomp(SANDBOX_TCP_CONNECTS) < 0)
		return SETUP;
	(void)socket(AF_UNIX, SOCK_STREAM, 0);
	return 1;
}

/* A worker that is given its sockets, tried with one that it was given. */
static int
stream_given_and(int (*what)(int fd))
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || sandbox_worker_seccomp(SANDBOX_TCP) < 0)
		return SETUP;
	return what(fd);
}

static const struct sockaddr_in somewhere = { .sin_family = AF_INET };

static int
use(int fd)
{
	(void)shutdown(fd, SHUT_RDWR);
	return send(fd, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE ? DONE : 1;
}

static int
open_another(int fd)
{
	(void)fd;
	(void)socket(AF_INET, SOCK_STREAM, 0);
	return 1;
}

static int
lead_elsewhere(int fd)
{
	(void)connect(fd, (const struct sockaddr *)&somewhere,
	    sizeof(somewhere));
	return 1;
}

static int
send_elsewhere(int fd)
{
	(void)sendto(fd, "x", 1, MSG_FASTOPEN,
	    (const struct sockaddr *)&somewhere, sizeof(somewhere));
	return 1;
}

static int
send_message_elsewhere(int fd)
{
	const struct msghdr message = { .msg_namelen = 0 };

	(void)sendmsg(fd, &message, MSG_FASTOPEN | MSG_NOSIGNAL);
	return 1;
}

static int
stream_given(void)
{
	return stream_given_and(use);
}

static int
stream_given_and_another(void)
{
	return stream_given_and(open_another);
}

static int
stream_given_and_connect(void)
{
	return stream_given_and(lead_elsewhere);
}

static int
stream_given_and_sendto(void)
{
	return stream_given_and(send_elsewhere);
}

static int
stream_given_and_sendmsg(void)
{
	return stream_given_and(send_message_elsewhere);
}

static int
worker_and_exec(void)
{
	char *arguments[] = { NULL };

	if (sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0)
		return SETUP;
	(void)execve("/bin/true", arguments, arguments);
	return 1;
}

/* Its own threads it may send signals to: abort(3) does. */
static int
worker_and_own_signal(void)
{
	if (sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0 ||
	    syscall(SYS_tgkill, getpid(), gettid(), 0) != 0)
		return SETUP;
	return fcntl(STDERR_FILENO, F_GETFL) >= 0 ? DONE : 1;
}

static int
worker_and_other_signal(void)
{
	const pid_t parent = getppid();

	if (sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0)
		return SETUP;
	(void)syscall(SYS_tgkill, parent, parent, 0);
	return 1;
}

/* The kernel would send it, to whoever owns a descriptor that has news. */
static int
worker_and_owner_of_signals(void)
{
	const pid_t parent = getppid();

	if (sandbox_worker_seccomp(SANDBOX_NO_TCP) < 0)
		return SETUP;
	(void)fcntl(STDERR_FILENO, F_SETOWN, parent);
	return 1;
}

static void
worker_calls_are_restricted(void)
{
	CHECK(ended_well(in_child(worker_and_own_signal)));
	CHECK(died_of(in_child(worker_and_other_signal), SIGSYS));
	CHECK(died_of(in_child(worker_and_owner_of_signals), SIGSYS));
	CHECK(ended_well(in_child(worker_as_allowed)));
	CHECK(died_of(in_child(worker_and_exec), SIGSYS));
	CHECK(ended_well(in_child(stream_as_allowed)));
	CHECK(died_of(in_child(stream_and_other_sockets), SIGSYS));
	CHECK(ended_well(in_child(stream_given)));
	CHECK(died_of(in_child(stream_given_and_another), SIGSYS));
	CHECK(died_of(in_child(stream_given_and_connect), SIGSYS));
	CHECK(died_of(in_child(stream_given_and_sendto), SIGSYS));
	CHECK(died_of(in_child(stream_given_and_sendmsg), SIGSYS));
	/* Threads that were there before are restricted too. */
	CHECK(died_of(in_child(worker_with_thread), SIGSYS));
}

static int
isolated(void)
{
	int keep[3] = { dup(0), -1, dup(0) };
	int other = dup(0), another = open("/dev/null", O_RDONLY);

	if (child_isolate(keep, 3) < 0)
		return SETUP;
	/* "keep" is sorted now: -1 comes first. */
	if (fcntl(keep[1], F_GETFD) < 0 || fcntl(keep[2], F_GETFD) < 0)
		return 1;
	if (fcntl(other, F_GETFD) >= 0 || fcntl(another, F_GETFD) >= 0)
		return 2;
	return fcntl(STDERR_FILENO, F_GETFD) < 0 ? 3 : DONE;
}

static void
child_keeps_its_own_files_only(void)
{
	CHECK(ended_well(in_child(isolated)));
}

static int
wrong_parent(void)
{
	return child_die_with(getpid()) == -ESRCH ? DONE : 1;
}

static void
child_sees_that_its_parent_is_gone(void)
{
	CHECK(ended_well(in_child(wrong_parent)));
}

static bool
feed_confined(void)
{
	/* As which user does not matter to the filter. */
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    sandbox_feed() == 0;
}

static void *
set_one(void *number)
{
	*(int *)number = 1;
	return NULL;
}

/* Files, connections of IP, and a thread that resolves. */
static int
feed_as_allowed(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(9) };
	struct ifaddrs *addresses;
	pthread_t thread;
	int number = 0, fd;

	if (!feed_confined())
		return SETUP;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = open("/etc/passwd", O_RDONLY);
	if (fd < 0 || read(fd, &number, 1) != 1 || close(fd) < 0)
		return 1;
	if (getifaddrs(&addresses) < 0)
		return 4;
	freeifaddrs(addresses);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&address,
	    sizeof(address)) < 0 && errno != ECONNREFUSED))
		return 2;
	if (pthread_create(&thread, NULL, set_one, &number) != 0 ||
	    pthread_join(thread, NULL) != 0 || number != 1)
		return 3;
	return DONE;
}

static void
feed_may_do_its_work(void)
{
	CHECK(ended_well(in_child(feed_as_allowed)));
}

/* What libraries may try fails. */
static int
feed_as_refused(void)
{
	static const int families[] = { AF_UNIX, AF_PACKET, AF_ALG, AF_VSOCK };

	if (!feed_confined())
		return SETUP;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (socket(families[i], SOCK_DGRAM, 0) >= 0 || errno != EPERM)
			return 1;
	if (socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER) >= 0 ||
	    errno != EPERM)
		return 6;
	if (fork() >= 0 || errno != EPERM)
		return 2;
	if (kill(getppid(), SIGTERM) == 0 || errno != EPERM)
		return 3;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0) != MAP_FAILED)
		return 4;
	if (setuid(0) == 0 || chmod("/etc/passwd", 0644) == 0)
		return 5;
	return DONE;
}

static int
feed_and_execute(void)
{
	char *const arguments[] = { (char[]){ "true" }, NULL };

	if (!feed_confined())
		return SETUP;
	(void)execv("/bin/true", arguments);
	return 1;
}

static int
feed_and_trace(void)
{
	if (!feed_confined())
		return SETUP;
	(void)syscall(SYS_ptrace, 0, 0, 0, 0);
	return 1;
}

static void
feed_may_do_nothing_else(void)
{
	CHECK(ended_well(in_child(feed_as_refused)));
	CHECK(died_of(in_child(feed_and_execute), SIGSYS));
	CHECK(died_of(in_child(feed_and_trace), SIGSYS));
}

int
main(void)
{
	TEST(compiler_may_do_its_work);
	TEST(compiler_may_do_nothing_else);
	TEST(compiler_is_nobody);
	if (geteuid() == 0)
		TEST(worker_has_one_capability);
	else
		printf("SKIP worker_has_one_capability: needs root\n");
	TEST(worker_calls_are_restricted);
	TEST(feed_may_do_its_work);
	TEST(feed_may_do_nothing_else);
	TEST(child_keeps_its_own_files_only);
	TEST(child_sees_that_its_parent_is_gone);
	return test_summary();
}
