/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches files that other programs replace or write (inotify(7)), and reports
 * that they have changed when the change is complete.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WATCH_H
#define NFDNS_NFQ_SUPERVISOR_WATCH_H

#include <stdbool.h>

#include "resolver/clock.h"

struct watch;			/* owns its descriptors */

/* What has changed; bits. */
#define WATCH_TABLES	0x01
#define WATCH_RESOLV	0x02
#define WATCH_FEEDS	0x04	/* reported at once: replaced by rename(2) */
#define WATCH_USERS	0x08	/* passwd(5), group(5) */

/* 0 and *watch, or a negative errno. */
int watch_open(struct watch **watch) __attribute__((warn_unused_result));
void watch_close(struct watch *watch);	/* NULL is allowed */

/*
 * Watches the file at path, which need not exist, through symbolic links; a
 * change is reported as the bit "what".  With "beside", the other files in its
 * directory belong to it, too.  A directory at path stands for all files in it
 * whose names do not begin with '.'.  0 or a negative errno.
 */
int watch_add(struct watch *watch, const char *path, unsigned int what,
    bool beside) __attribute__((warn_unused_result));

/* For poll(2). */
int watch_fd(const struct watch *watch);

/*
 * Call it if watch_fd() is readable.  Returns the bits of the files that
 * changed since the last report, once all writers have closed and nothing more
 * has changed for WATCH_SETTLE_MS, but at the latest after WATCH_LATEST_MS.  0
 * if there is nothing to report yet.
 */
#define WATCH_SETTLE_MS	300
#define WATCH_LATEST_MS	3000
unsigned int watch_next(struct watch *watch, monotime_t now);

#endif
