/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's directory: a lock on a file there says which daemon has it. */
#ifndef NFDNS_NFQ_SUPERVISOR_RUN_DIR_H
#define NFDNS_NFQ_SUPERVISOR_RUN_DIR_H

#include <sys/types.h>

#include "resolver/text/diag.h"

#define RUN_DIR_PID_FILE "nfdnsd.pid"
#define RUN_DIR_LOCK_FILE "nfdnsd.lock"

/*
 * Creates the directory if it does not exist, takes its lock and writes
 * this process's pid.  Returns the lock's descriptor, which must stay open; or
 * a negative errno with an error in diag: -EBUSY, with the other daemon's pid
 * in the error, if another daemon has the directory.
 */
int run_dir_take(const char *run_dir, struct diag *diag)
    __attribute__((warn_unused_result));

/* Removes both files and closes the lock; -1 is allowed. */
void run_dir_leave(const char *run_dir, int fd);

#endif
