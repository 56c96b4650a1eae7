/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every child process of the supervisor does first.  A child that kept a
 * queue's socket or the rules' socket open after the supervisor was killed
 * would hold questions in the kernel for ever, so it keeps what it needs and
 * does not outlive its parent.
 */
#ifndef NFDNS_NFQ_PROCESS_CHILD_H
#define NFDNS_NFQ_PROCESS_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Closes every file but stdin, stdout, stderr and the count ones in "keep"
 * (which gets sorted; -1 stands for none), and ignores the signals that are the
 * supervisor's: Ctrl-C and a service manager send them to every process of
 * ours, and only the supervisor knows in which order to stop.
 * 0 or a negative errno.
 */
int child_isolate(int *keep, size_t count) __attribute__((warn_unused_result));

/*
 * Asks the kernel to kill this process when "parent" dies.  The kernel forgets
 * it at a change of user (commit_creds()), so call it after that.
 * 0, or -ESRCH when the parent is gone already.
 */
int child_die_with(pid_t parent) __attribute__((warn_unused_result));

/*
 * In words how a child ended, from what waitpid(2) said: "exit status 1",
 * "signal SIGSEGV".  Put into buf; returns it.
 */
#define CHILD_TEXT 48
const char *child_end_text(int wait_status, char buf[static CHILD_TEXT]);

/* waitpid(2) that does not mind EINTR.  Returns the status, or -ECHILD. */
int child_reap(pid_t pid, int *wait_status);

#endif
