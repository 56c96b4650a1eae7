/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listening socket of metrics.listen. */
#ifndef NFDNS_NFQ_SUPERVISOR_METRICS_LISTEN_H
#define NFDNS_NFQ_SUPERVISOR_METRICS_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "policy/config/config.h"

struct metrics_listen {
	int fd;				/* -1: none */
	struct config_listen of;	/* its own copy */
	dev_t device;			/* of the path, to remove no other's */
	ino_t inode;
};

#define METRICS_LISTEN_INIT { .fd = -1 }

/* Whether that is anything, and whether two are the same. */
bool metrics_listen_wanted(const struct config_listen *of);
bool metrics_listen_same(const struct config_listen *a,
    const struct config_listen *b);

/*
 * Opens it.  A Unix socket has the mode 0666 and the daemon's user; a socket at
 * its path that nobody listens at is replaced.  "sockets" is the path of
 * nfdns-sockets, which runs as uid and opens IP sockets; NULL: this process does.
 * 0; -EADDRINUSE; -EEXIST if the path is no socket of ours; or another negative
 * errno.
 */
int metrics_listen_open(struct metrics_listen *listen,
    const struct config_listen *of, const char *sockets, uid_t uid)
    __attribute__((warn_unused_result));

/* Closes it, and removes the path if it is still the one that was made. */
void metrics_listen_close(struct metrics_listen *listen);

/* "unix:/run/nfdns/metrics.sock", "[::1]:9153". */
#define METRICS_LISTEN_TEXT 128
const char *metrics_listen_text(const struct config_listen *of,
    char buf[static METRICS_LISTEN_TEXT]);

#endif
