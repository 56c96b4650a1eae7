/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process may still do after it has taken its work in hand. */
#ifndef NFDNS_NFQ_PROCESS_SANDBOX_H
#define NFDNS_NFQ_PROCESS_SANDBOX_H

#include <sys/types.h>

#include "policy/config/config.h"

/*
 * User and group of config, CAP_NET_ADMIN and nothing else, no new privileges,
 * no core dump and no ptrace by the same user.  A caller that is not root
 * keeps its user, and needs no system call that sets capabilities if it has
 * none but this one.  0 or a negative errno.
 */
int sandbox_worker_privileges(const struct config *config)
    __attribute__((warn_unused_result));

enum sandbox_tcp {
	SANDBOX_NO_TCP,
	SANDBOX_TCP_CONNECTS, /* by itself: new sockets of IPv4 and IPv6 */
	SANDBOX_TCP, /* its sockets are given to it (nfq/sockets/server.h) */
};

/*
 * The worker's system calls, for all threads that there are; call when threads
 * and files are there and before any packet is read.  It can send signals to
 * its own threads only.  A thread that makes
 * another call ends the process with SIGSYS.  "tcp": those of the TCP thread,
 * too.  0 or a negative errno.
 */
int sandbox_worker_seccomp(enum sandbox_tcp tcp)
    __attribute__((warn_unused_result));

/*
 * The compiler: no capability at all, limits on memory, time and file size, no
 * new file; and then no call but for memory and the files that it has.
 * A caller that is not root keeps its user, and one that is root changes to
 * uid and gid, or to nobody if that were root.  0 or a negative errno.
 */
int sandbox_compiler_privileges(uid_t uid, gid_t gid)
    __attribute__((warn_unused_result));
int sandbox_compiler_seccomp(void) __attribute__((warn_unused_result));

/*
 * A program that is executed from here on, by who is not root, begins without
 * capabilities.  0 or a negative errno.
 */
int sandbox_clear_ambient(void) __attribute__((warn_unused_result));

/*
 * The process that opens sockets: no call but for those and for talking about
 * them.  0; -EPERM for who is root or has a capability, since nothing here
 * needs one; or another negative errno.
 */
int sandbox_sockets(void) __attribute__((warn_unused_result));

/* Seconds of CPU that a compiler gets before SIGXCPU. */
#define SANDBOX_COMPILER_CPU_S	120

#endif
