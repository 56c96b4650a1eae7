/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that other programs replace or write: looks at them once a second, by
 * stat(2).  Only of feeds' tables, which are replaced by rename(2), the kernel tells
 * at once (inotify(7)).
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WATCH_H
#define NFDNS_NFQ_SUPERVISOR_WATCH_H

#include <stdbool.h>

#include "resolver/clock.h"

struct watch;			/* owns its descriptor */

/* What has changed; bits. */
#define WATCH_TABLES	0x01
#define WATCH_RESOLV	0x02
#define WATCH_FEEDS	0x04	/* reported at once */
#define WATCH_USERS	0x08	/* passwd(5), group(5) */

#define WATCH_LOOK_MS	1000
#define WATCH_LATEST_MS	5000	/* for files that change all the time */

/* NULL: out of memory. */
struct watch *watch_open(void) __attribute__((warn_unused_result));
void watch_close(struct watch *watch);	/* NULL is allowed */

/*
 * Watches the file at path, which need not exist, through symbolic links; a
 * change is reported as the bit "what".  With "beside", the other files in its
 * directory belong to it, too.  A directory at path stands for all files in it
 * whose names do not begin with '.'.  0 or -ENOMEM.
 */
int watch_add(struct watch *watch, const char *path, unsigned int what,
    bool beside) __attribute__((warn_unused_result));

/* For poll(2); -1: there is none.  If it is readable: watch_feeds(). */
int watch_fd(const struct watch *watch);
unsigned int watch_feeds(struct watch *watch);

/*
 * Call it often.  Returns the bits of the files that have changed since the last
 * report, once they are the same at two looks, so that a writer is done, but at the
 * latest after WATCH_LATEST_MS.
 */
unsigned int watch_look(struct watch *watch, monotime_t now);

#endif
