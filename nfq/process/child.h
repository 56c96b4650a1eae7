/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every child process of the supervisor does first.  If a child kept a
 * queue's socket or the rules' socket open after the supervisor was killed,
 * questions would wait in the kernel for ever.  So a child keeps only the files
 * that it needs, and dies with its parent.
 */
#ifndef NFDNS_NFQ_PROCESS_CHILD_H
#define NFDNS_NFQ_PROCESS_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Closes every file but stdin, stdout, stderr and the "count" files in "keep"
 * (sorts that array; -1 entries are skipped).  Ignores the supervisor's
 * signals: Ctrl-C and a service manager send them to all processes of the
 * group, and only the supervisor knows in which order to stop. 0 or a negative
 * errno.
 */
int child_isolate(int *keep, size_t count) __attribute__((warn_unused_result));

/*
 * Asks the kernel to kill this process when "parent" dies.  A change of user
 * cancels the request (commit_creds() in kernel/cred.c), so change the user
 * first.  0, or -ESRCH if the parent is already gone.
 */
int child_die_with(pid_t parent) __attribute__((warn_unused_result));

/*
 * Lets this process have as many open files as it may, since a reload can raise
 * what it needs, and by then the sandbox forbids setrlimit(2).  Returns how
 * many; UINT64_MAX: not known.
 */
uint64_t child_raise_files(void);

/*
 * Writes to buf how a child ended, from waitpid(2)'s status: "exit status 1",
 * "signal SIGSEGV".  Returns buf.
 */
#define CHILD_TEXT 48
const char *child_end_text(int wait_status, char buf[static CHILD_TEXT]);

/* waitpid(2) without EINTR.  0 and *wait_status, or -ECHILD. */
int child_reap(pid_t pid, int *wait_status);

#endif
