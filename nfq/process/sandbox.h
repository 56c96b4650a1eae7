/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes from a process every right that its work does not need. */
#ifndef NFDNS_NFQ_PROCESS_SANDBOX_H
#define NFDNS_NFQ_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The worker: this user and group, CAP_NET_ADMIN and no other capability, no
 * new privileges, no core dump, no ptrace(2) by the same user.  A caller that
 * is not root keeps its user; if CAP_NET_ADMIN is its only capability, no
 * system call that sets capabilities is made.  0 or a negative errno.
 */
int sandbox_worker_privileges(uid_t uid, gid_t gid)
    __attribute__((warn_unused_result));

/*
 * Restricts the system calls of all threads of the worker.  Call it when all
 * threads run and all files are open, and before the first packet is read.  The
 * worker can send signals only to its own threads.  Any other call ends the
 * process with SIGSYS.
 * 0 or a negative errno.
 */
int sandbox_worker_seccomp(void) __attribute__((warn_unused_result));

/*
 * The compiler.  First: no capability.  A caller that is root changes to uid and
 * gid, or to nobody if uid is root; any other caller keeps its user.  Then: limits
 * on memory, CPU time, files and their size; that on memory follows "octets", the
 * size of the files that it reads.  Last, before it reads any of them: only system
 * calls for memory and for the files that are open.  0 or a negative errno.
 */
int sandbox_compiler_privileges(uid_t uid, gid_t gid)
    __attribute__((warn_unused_result));
int sandbox_compiler_limits(uint64_t octets) __attribute__((warn_unused_result));
int sandbox_compiler_seccomp(void) __attribute__((warn_unused_result));

/*
 * A command that reads a file which may be anybody's: no capability, and as
 * root the user "nobody"; it can only read and write what is open, and take what
 * another process opens for it.  0 or a negative errno.
 */
int sandbox_reader(void) __attribute__((warn_unused_result));

/*
 * From here on, a program that a process without root executes starts without
 * capabilities.  0 or a negative errno.
 */
int sandbox_clear_ambient(void) __attribute__((warn_unused_result));

/*
 * nfdns-tls.  First: no capability, limits on memory and files, and another user
 * as for the compiler.  Then: only system calls for memory and for the sockets
 * that it is given.  0 or a negative errno.
 */
int sandbox_tls_privileges(uid_t uid, gid_t gid)
    __attribute__((warn_unused_result));
int sandbox_tls_seccomp(void) __attribute__((warn_unused_result));

/*
 * nfdns-feed.  First: no new privileges.  Then: it may open files and IP
 * connections, but execute nothing.  Other calls fail with EPERM and do not end the
 * process, because libraries for TLS and names try many things.  0; -EPERM if the
 * process is root or has a capability, since it needs neither; or another negative
 * errno.
 */
int sandbox_feed_privileges(void) __attribute__((warn_unused_result));
int sandbox_feed(void) __attribute__((warn_unused_result));

/* Seconds of CPU that a compiler gets before SIGXCPU. */
#define SANDBOX_COMPILER_CPU_S	120

#endif
