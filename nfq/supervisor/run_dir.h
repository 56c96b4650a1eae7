/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's directory: one daemon has it, and says so with its pid file. */
#ifndef NFDNS_NFQ_SUPERVISOR_RUN_DIR_H
#define NFDNS_NFQ_SUPERVISOR_RUN_DIR_H

#include <sys/types.h>

#include "resolver/text/diag.h"

#define RUN_DIR_PID_FILE "nfdnsd.pid"

/*
 * Makes the directory if need be, locks its pid file and writes our pid.
 * Returns the file's descriptor, which is to stay open; or a negative errno
 * with an error in diag: -EBUSY and the other daemon's pid if one has it.
 */
int run_dir_take(const char *run_dir, struct diag *diag)
    __attribute__((warn_unused_result));

/* Removes the pid file and closes it; -1 is allowed. */
void run_dir_leave(const char *run_dir, int fd);

/*
 * The daemon that has the directory: its pid, and a pidfd, which is the
 * caller's, so that a signal reaches this process or none.  What the pid file
 * and the status page say is the daemon's user's to write; who has the lock is
 * told by the kernel.  -ESRCH if nobody has it, -EBADF if the file cannot be a
 * daemon's, or another negative errno.
 */
int run_dir_holder(const char *run_dir, pid_t *pid)
    __attribute__((warn_unused_result));

#endif
