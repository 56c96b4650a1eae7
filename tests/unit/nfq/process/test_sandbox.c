/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the compiler and a feed may do, and what any child keeps. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cap-ng.h>

#include "nfq/process/sandbox.h"
#include "tests/unit/nfq/process/in_child.h"

static bool
compiler_confined(void)
{
	return sandbox_compiler_privileges(NOBODY, NOBODY) == 0 &&
	    sandbox_compiler_limits(UINT64_MAX) == 0 &&
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

TEST(compiler_may_do_its_work)
{
	CHECK(ended_well(in_child(compile_as_allowed)));
	CHECK(ended_well(in_child(compile_and_sort)));
}

TEST(compiler_may_do_nothing_else)
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

	if (sandbox_compiler_privileges(NOBODY, NOBODY) < 0 ||
	    sandbox_compiler_limits(UINT64_MAX) < 0)
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

TEST(compiler_is_nobody)
{
	CHECK(ended_well(in_child(compiler_who_am_i)));
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

TEST(child_keeps_its_own_files_only)
{
	CHECK(ended_well(in_child(isolated)));
}

static int
wrong_parent(void)
{
	return child_die_with(getpid()) == -ESRCH ? DONE : 1;
}

TEST(child_sees_that_its_parent_is_gone)
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
nothing(void *arg)
{
	return arg;
}

/* Files and connections of IP; no thread. */
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
	if (pthread_create(&thread, NULL, nothing, NULL) == 0)
		return 3;
	return DONE;
}

TEST(feed_may_do_its_work)
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

TEST(feed_may_do_nothing_else)
{
	CHECK(ended_well(in_child(feed_as_refused)));
	CHECK(died_of(in_child(feed_and_execute), SIGSYS));
	CHECK(died_of(in_child(feed_and_trace), SIGSYS));
}
