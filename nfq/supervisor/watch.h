/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows files that others replace or write into (inotify(7)), and says when
 * they have changed and nobody is at them any more.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WATCH_H
#define NFDNS_NFQ_SUPERVISOR_WATCH_H

#include <stdbool.h>

#include "resolver/clock.h"

struct watch;			/* owns its descriptors */

/* What has changed; bits. */
#define WATCH_TABLES	0x01
#define WATCH_RESOLV	0x02

/* 0 and *watch, or a negative errno. */
int watch_open(struct watch **watch) __attribute__((warn_unused_result));
void watch_close(struct watch *watch);	/* NULL is allowed */

/*
 * Follows the file at path, which need not be there, wherever symbolic links
 * lead; a change of it is reported as "what".  With "beside", files in its
 * directory belong to it too.  A directory at path stands for all files in it
 * whose names do not begin with '.'.  0 or a negative errno.
 */
int watch_add(struct watch *watch, const char *path, unsigned int what,
    bool beside) __attribute__((warn_unused_result));

/* For poll(2). */
int watch_fd(const struct watch *watch);

/*
 * Call when watch_fd() is readable.  Returns what has changed since it was
 * last asked and has been left alone for WATCH_SETTLE_MS, written files
 * closed; or, whatever goes on, what has changed WATCH_LATEST_MS ago or longer.
 * 0 if there is nothing to say yet.
 */
#define WATCH_SETTLE_MS	300
#define WATCH_LATEST_MS	3000
unsigned int watch_next(struct watch *watch, monotime_t now);

#endif
