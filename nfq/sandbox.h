/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process may still do after it has taken its work in hand. */
#ifndef NFDNS_NFQ_SANDBOX_H
#define NFDNS_NFQ_SANDBOX_H

#include "policy/config.h"

/* User and group of config, CAP_NET_ADMIN and nothing else, no new privileges. */
int sandbox_worker_privileges(const struct config *config)
    __attribute__((warn_unused_result));
/* The worker's system calls; call after threads and files are there. */
int sandbox_worker_seccomp(void) __attribute__((warn_unused_result));
/*
 * The compiler: no privilege, no new file, no socket, no process; limits on
 * memory, time and file size.
 */
int sandbox_compiler(const struct config *config)
    __attribute__((warn_unused_result));

#endif
