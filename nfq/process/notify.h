/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The service manager's notification protocol, sd_notify(3), without its library. */
#ifndef NFDNS_NFQ_PROCESS_NOTIFY_H
#define NFDNS_NFQ_PROCESS_NOTIFY_H

#include <stdint.h>

/*
 * Sends "state" ("READY=1", several lines allowed) to $NOTIFY_SOCKET, a path or
 * an abstract name.  0 when sent or when there is no such variable; a negative
 * errno otherwise.
 */
int notify(const char *state);
/* The same with a file descriptor, of which the service manager gets a copy. */
int notify_with_fd(const char *state, int fd);

/* RELOADING=1 with MONOTONIC_USEC, as systemd 253 wants it. */
int notify_reloading(void);

/* Microseconds of $WATCHDOG_USEC if meant for this process, else 0. */
uint64_t notify_watchdog_usec(void);

#endif
