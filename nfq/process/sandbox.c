/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* "nobody" on every Linux: the user that unmapped users are shown as. */
#define OVERFLOW_ID 65534

#define COMPILER_MEMORY	((rlim_t)4 << 30)	/* in any case */
#define COMPILER_LEAST	((rlim_t)1 << 30)	/* for files that others include */
#define COMPILER_TIMES	128			/* what the tables have */
#define COMPILER_FILE	((rlim_t)4 << 30)
#define COMPILER_FILES	((rlim_t)4096)
#define TLS_MEMORY	((rlim_t)512 << 20)
#define TLS_FILES	((rlim_t)640)	/* two for each of TLS_CONNECTIONS */

/* What malloc, threads and the C runtime need in each process. */
static const int calls_of_runtime[] = {
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(getrandom),
	SCMP_SYS(sched_getaffinity),	/* malloc: arenas by number of CPUs */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep), SCMP_SYS(time),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall), SCMP_SYS(getpid), SCMP_SYS(gettid),
	SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close),
	SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
};

/*
 * Commands of fcntl(2).  With F_SETOWN and F_SETSIG a process could make the
 * kernel send any signal to any process of the same user.
 */
static const int fcntl_commands[] = {
	F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL,
	F_GET_SEALS, F_ADD_SEALS,
};

static const int calls_of_worker[] = {
	SCMP_SYS(recvmmsg), SCMP_SYS(recvmsg), SCMP_SYS(recvfrom),
	SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(getsockopt),
	/* The audit removes the part of a line that fitted on a full disk. */
	SCMP_SYS(ftruncate),
	/* The C library calls these at the start of each thread. */
	SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
};

static const int calls_of_asking[] = {
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl),
	SCMP_SYS(accept4), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
	SCMP_SYS(shutdown), SCMP_SYS(connect), SCMP_SYS(setsockopt),
	SCMP_SYS(bind),
};

static const int calls_of_tls[] = {
	SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_create1), SCMP_SYS(recvmsg), SCMP_SYS(getsockopt),
	SCMP_SYS(shutdown), SCMP_SYS(recvfrom),
};

static const int calls_of_compiler[] = {
	SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(readv),
	SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
	SCMP_SYS(recvmsg),	/* of files that a source includes */
	SCMP_SYS(fdatasync),	/* of a file that takes the place of another */
};

static const int calls_of_reader[] = {
	SCMP_SYS(pread64), SCMP_SYS(readv), SCMP_SYS(pwrite64),
	SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
	SCMP_SYS(recvmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(shutdown),
};

/* These fail with EACCES; libraries that try them go on without. */
static const int calls_refused[] = {
	SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(prctl),
	SCMP_SYS(sysinfo),	/* qsort(3) up to glibc 2.36 */
};

/*
 * A feed talks to the network by libraries (nghttp2, OpenSSL, c-ares), so the list is
 * longer than those of our own code, and what is not on it fails.
 */
static const int calls_of_feed[] = {
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
static const int calls_deadly[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	SCMP_SYS(kexec_load), SCMP_SYS(init_module), SCMP_SYS(bpf),
	SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
};

/* How many octets wait, not to wait, names of devices, whether it is a terminal. */
static const unsigned int ioctls_of_feed[] = {
	FIONREAD, FIONBIO, SIOCGIFNAME, SIOCGIFINDEX, TCGETS,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int
add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls,
    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int error = seccomp_rule_add(filter, action, calls[i], 0);

		/* -EDOM: this architecture has no such call. */
		if (error < 0 && error != -EDOM)
			return error;
	}
	return 0;
}

/* Memory, but none that can be executed. */
static int
add_mappings(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	int error = 0;

	for (size_t i = 0; i < COUNT(calls) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 1,
		    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return error;
}

static int
add_fcntl(scmp_filter_ctx filter)
{
	int error = 0;

	for (size_t i = 0; i < COUNT(fcntl_commands) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ,
		    (scmp_datum_t)fcntl_commands[i], 0));
	return error;
}

/* Memory, files, and signals to its own threads: abort(3), pthread_kill(3). */
static int
add_common(scmp_filter_ctx filter)
{
	int error = add_mappings(filter);

	if (error == 0)
		error = add_fcntl(filter);
	return error < 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW,
	    SCMP_SYS(tgkill), 1,
	    SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
}

static int
add_ip_sockets(scmp_filter_ctx filter)
{
	static const unsigned int families[] = { AF_INET, AF_INET6 };
	int error = 0;

	for (size_t i = 0; i < COUNT(families) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, families[i], 0));
	return error;
}

/* Messages, but none that opens a connection: MSG_FASTOPEN of tcp(7). */
static int
add_sending(scmp_filter_ctx filter)
{
	int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto),
	    1, SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));

	if (error == 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(sendmsg), 1,
		    SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
	return error;
}

/* An interface's name, for those that may ask; all else is refused. */
static int
add_ioctl(scmp_filter_ctx filter, bool may)
{
	if (!may)
		return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES),
		    SCMP_SYS(ioctl), 0);
	const int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
	    SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, SIOCGIFNAME, 0));

	return error < 0 ? error : seccomp_rule_add(filter,
	    SCMP_ACT_ERRNO(EACCES), SCMP_SYS(ioctl), 1,
	    SCMP_A1(SCMP_CMP_NE, SIOCGIFNAME, 0));
}

/* IP sockets; and pairs of others, of which one end goes to nfdns-tls. */
static int
add_asking(scmp_filter_ctx filter)
{
	int error = add_calls(filter, SCMP_ACT_ALLOW, calls_of_asking,
	    COUNT(calls_of_asking));

	if (error == 0)
		error = add_ip_sockets(filter);
	return error < 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW,
	    SCMP_SYS(socketpair), 1,
	    SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)AF_UNIX, 0));
}

/* What a process may do besides its own calls. */
enum {
	MAY_SEND = 1,
	MAY_ASK = 2,
};

static int
add_abilities(scmp_filter_ctx filter, unsigned int may)
{
	int error = 0;

	if ((may & MAY_SEND) != 0)
		error = add_sending(filter);
	if (error == 0 && (may & MAY_ASK) != 0)
		error = add_asking(filter);
	return error;
}

/* Unless there was an error before; frees the filter. */
static int
load(scmp_filter_ctx filter, int error)
{
	if (error == 0)
		error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

/* Permits the runtime's calls and "calls"; any other kills the process. */
static int
restrict_calls(const int *calls, size_t count, unsigned int may)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error;

	if (filter == NULL)
		return -ENOMEM;
	error = add_calls(filter, SCMP_ACT_ALLOW, calls_of_runtime,
	    COUNT(calls_of_runtime));
	if (error == 0)
		error = add_calls(filter, SCMP_ACT_ALLOW, calls, count);
	if (error == 0)
		error = add_calls(filter, SCMP_ACT_ERRNO(EACCES), calls_refused,
		    COUNT(calls_refused));
	if (error == 0)
		error = add_common(filter);
	if (error == 0)
		error = add_ioctl(filter, (may & MAY_ASK) != 0);
	if (error == 0)
		error = add_abilities(filter, may);
	return load(filter, error);
}

/* Whether this thread has "keep" (-1: none) and no other capability. */
static bool
has_only(int keep)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	/* The C library has no function for it. */
	if (syscall(SYS_capget, &header, sets) < 0)
		return false;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		const uint32_t wanted = keep >= 0 && CAP_TO_INDEX(keep) == i ?
		    CAP_TO_MASK(keep) : 0;

		if (sets[i].permitted != wanted || sets[i].effective != wanted)
			return false;
	}
	return true;
}

/* Called only if the process has more capabilities than it should. */
static int
set_capabilities(uid_t uid, gid_t gid, int keep)
{
	int outcome;

	capng_clear(CAPNG_SELECT_BOTH);
	if (keep >= 0 && capng_update(CAPNG_ADD,
	    CAPNG_EFFECTIVE | CAPNG_PERMITTED, (unsigned int)keep) != 0)
		return -EINVAL;
	if (geteuid() == 0)
		outcome = capng_change_id((int)uid, (int)gid,
		    CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);
	else
		outcome = capng_apply(CAPNG_SELECT_CAPS);
	if (outcome != 0)
		return errno != 0 ? -errno : -EPERM;
	return 0;
}

/*
 * Gives up every capability but "keep" (-1: all of them) and, as root, changes
 * to uid and gid for good.  A service manager that gives the process only this
 * capability, and its user, may forbid the calls that set capabilities.
 */
static int
drop_privileges(uid_t uid, gid_t gid, int keep)
{
	int error = 0;

	if (geteuid() == 0 || !has_only(keep))
		error = set_capabilities(uid, gid, keep);
	if (error == 0)
		error = sandbox_clear_ambient();
	if (error < 0)
		return error;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

static int
limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard)
{
	struct rlimit old, new = { soft, hard };

	if (getrlimit(resource, &old) < 0)
		return -errno;
	/* Only a privileged process may raise a hard limit. */
	if (new.rlim_max > old.rlim_max)
		new.rlim_max = old.rlim_max;
	if (new.rlim_cur > new.rlim_max)
		new.rlim_cur = new.rlim_max;
	return setrlimit(resource, &new) < 0 ? -errno : 0;
}

/* Octets of address space that are mapped already, from /proc (proc(5)). */
static rlim_t
mapped_now(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	char line[64];
	rlim_t pages = 0;

	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) != NULL)
		pages = strtoull(line, NULL, 10);
	(void)fclose(file);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int
sandbox_compiler_limits(uint64_t octets)
{
	const rlim_t room = octets > COMPILER_MEMORY / COMPILER_TIMES ?
	    COMPILER_MEMORY : octets * COMPILER_TIMES + COMPILER_LEAST;
	/* Added to what is mapped: a sanitizer's shadow alone is terabytes. */
	const rlim_t memory = mapped_now() + (room < COMPILER_MEMORY ? room :
	    COMPILER_MEMORY);
	int error;

	if ((error = limit(RLIMIT_AS, memory, memory)) < 0 ||
	    (error = limit(RLIMIT_CPU, SANDBOX_COMPILER_CPU_S,
	    SANDBOX_COMPILER_CPU_S + 5)) < 0 ||
	    (error = limit(RLIMIT_FSIZE, COMPILER_FILE, COMPILER_FILE)) < 0 ||
	    (error = limit(RLIMIT_CORE, 0, 0)) < 0)
		return error;
	/* It cannot open files, but the parent sends some. */
	return limit(RLIMIT_NOFILE, COMPILER_FILES, COMPILER_FILES);
}

/* Of memory that is not mapped yet, and of open files. */
static int
limit_program(rlim_t more, rlim_t files)
{
	const rlim_t memory = mapped_now() + more;
	int error;

	if ((error = limit(RLIMIT_AS, memory, memory)) < 0 ||
	    (error = limit(RLIMIT_CORE, 0, 0)) < 0)
		return error;
	return limit(RLIMIT_NOFILE, files, files);
}

int
sandbox_worker_privileges(uid_t uid, gid_t gid)
{
	int error = limit(RLIMIT_CORE, 0, 0);

	if (error < 0)
		return error;
	return drop_privileges(uid, gid, CAP_NET_ADMIN);
}

int
sandbox_worker_seccomp(void)
{
	return restrict_calls(calls_of_worker, COUNT(calls_of_worker),
	    MAY_SEND | MAY_ASK);
}

/* If the worker's user is root, it is nobody. */
static int
drop_all(uid_t uid, gid_t gid)
{
	const bool root = uid == 0;

	return drop_privileges(root ? OVERFLOW_ID : uid,
	    root ? OVERFLOW_ID : gid, -1);
}

int
sandbox_compiler_privileges(uid_t uid, gid_t gid)
{
	return drop_all(uid, gid);
}

int
sandbox_tls_privileges(uid_t uid, gid_t gid)
{
	const int error = drop_all(uid, gid);

	return error < 0 ? error : limit_program(TLS_MEMORY, TLS_FILES);
}

int
sandbox_tls_seccomp(void)
{
	return restrict_calls(calls_of_tls, COUNT(calls_of_tls), MAY_SEND);
}

int
sandbox_compiler_seccomp(void)
{
	return restrict_calls(calls_of_compiler, COUNT(calls_of_compiler), 0);
}

int
sandbox_reader(void)
{
	int error = limit(RLIMIT_CORE, 0, 0);

	if (error == 0)
		error = drop_privileges(OVERFLOW_ID, OVERFLOW_ID, -1);
	return error < 0 ? error : restrict_calls(calls_of_reader,
	    COUNT(calls_of_reader), 0);
}

int
sandbox_feed_privileges(void)
{
	int error = limit(RLIMIT_CORE, 0, 0);

	if (error < 0)
		return error;
	if (geteuid() == 0 || !has_only(-1))
		return -EPERM;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

static int
add_arguments_of_feed(scmp_filter_ctx filter)
{
	int error = add_common(filter);

	if (error == 0)
		error = add_ip_sockets(filter);
	/* This machine's addresses: getifaddrs(3). */
	if (error == 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(socket), 2, SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0),
		    SCMP_A2(SCMP_CMP_EQ, NETLINK_ROUTE, 0));
	for (size_t i = 0; i < COUNT(ioctls_of_feed) && error == 0; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
		    SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ,
		    ioctls_of_feed[i], 0));
	return error;
}

int
sandbox_feed(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int error;

	if (filter == NULL)
		return -ENOMEM;
	error = add_calls(filter, SCMP_ACT_ALLOW, calls_of_feed,
	    COUNT(calls_of_feed));
	if (error == 0)
		error = add_calls(filter, SCMP_ACT_KILL_PROCESS, calls_deadly,
		    COUNT(calls_deadly));
	if (error == 0)
		error = add_arguments_of_feed(filter);
	return load(filter, error);
}

int
sandbox_clear_ambient(void)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ?
	    -errno : 0;
}
