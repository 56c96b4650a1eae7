/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol of sd_notify(3), without libsystemd. */
#ifndef NFDNS_NFQ_PROCESS_NOTIFY_H
#define NFDNS_NFQ_PROCESS_NOTIFY_H

#include <stdint.h>

/*
 * Sends "state" ("READY=1"; several lines are allowed) to $NOTIFY_SOCKET, a
 * path or an abstract name.  0 if it was sent or the variable is not set, else
 * a negative errno.
 */
int notify(const char *state);
/* The same; the service manager gets a copy of fd, too. */
int notify_with_fd(const char *state, int fd);

/*
 * Opens the socket for all that follows: for a process that confines itself then.  0
 * or a negative errno.
 */
int notify_keep(void) __attribute__((warn_unused_result));

/* RELOADING=1 with MONOTONIC_USEC, which systemd requires since 253. */
int notify_reloading(void);

/* $WATCHDOG_USEC in microseconds if it is for this process, else 0. */
uint64_t notify_watchdog_usec(void);

#endif
