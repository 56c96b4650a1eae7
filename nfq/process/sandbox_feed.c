/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of a feed's process.  It talks to the network by libraries
 * (nghttp2, OpenSSL, c-ares), so the list is longer than those of our own code,
 * and what is not on it fails instead of ending the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <seccomp.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "nfq/process/sandbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const int allowed[] = {
	/* memory, time */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(mlock), SCMP_SYS(mlock2), SCMP_SYS(munlock),
	SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(getrandom),
	SCMP_SYS(membarrier), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
	SCMP_SYS(clock_nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep),
	SCMP_SYS(time), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid),
	SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	/* files: certificates, tokens, and what is kept */
	SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(read), SCMP_SYS(readv),
	SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
	SCMP_SYS(pwrite64), SCMP_SYS(close), SCMP_SYS(lseek),
	SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
	SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64), SCMP_SYS(fsync), SCMP_SYS(fdatasync),
	SCMP_SYS(ftruncate), SCMP_SYS(fchmod), SCMP_SYS(rename),
	SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(unlink),
	SCMP_SYS(unlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
	SCMP_SYS(utimensat), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3),
	/* connections */
	SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(getsockname),
	SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
	SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg),
	SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg),
	SCMP_SYS(shutdown), SCMP_SYS(socketpair), SCMP_SYS(pipe),
	SCMP_SYS(pipe2), SCMP_SYS(eventfd2), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
	SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime),
};

/* What an attacker needs first ends the process. */
static const int deadly[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(kexec_load), SCMP_SYS(init_module), SCMP_SYS(bpf),
	SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
};

static const int fcntl_commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL,
};

/* How many octets wait, not to wait, names of devices, whether it is a terminal. */
static const unsigned int ioctl_commands[] = {
	FIONREAD, FIONBIO, SIOCGIFNAME, SIOCGIFINDEX, TCGETS,
};

static int
add(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int error = seccomp_rule_add(filter, action, calls[i], 0);

		/* -EDOM: this architecture has no such call. */
		if (error < 0 && error != -EDOM)
			return error;
	}
	return 0;
}

/* Memory that can be executed, signals to others, other kinds of sockets. */
static int
add_arguments(scmp_filter_ctx filter)
{
	static const int mappings[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	static const unsigned int families[] = { AF_INET, AF_INET6 };
	int error = 0;

	for (size_t i = 0; i < COUNT(mappings) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, mappings[i], 1,
		    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	for (size_t i = 0; i < COUNT(families) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, families[i], 0));
	/* This machine's addresses, and that they or its routes change. */
	if (error == 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(socket), 2, SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0),
		    SCMP_A2(SCMP_CMP_EQ, NETLINK_ROUTE, 0));
	for (size_t i = 0; i < COUNT(fcntl_commands) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ,
		    (scmp_datum_t)fcntl_commands[i], 0));
	for (size_t i = 0; i < COUNT(ioctl_commands) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ,
		    ioctl_commands[i], 0));
	/* abort(3) */
	if (error == 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ,
		    (scmp_datum_t)getpid(), 0));
	return error;
}

int
sandbox_feed(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int error;

	if (filter == NULL)
		return -ENOMEM;
	error = add(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
	if (error == 0)
		error = add(filter, SCMP_ACT_KILL_PROCESS, deadly,
		    COUNT(deadly));
	if (error == 0)
		error = add_arguments(filter);
	if (error == 0)
		error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}
