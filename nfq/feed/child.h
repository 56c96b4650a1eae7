/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of one feed: the protocol on one side, the kept table on the other. */
#ifndef NFDNS_NFQ_FEED_CHILD_H
#define NFDNS_NFQ_FEED_CHILD_H

#include <stdatomic.h>

#include "policy/config/feed_config.h"
#include "policy/status/feed_status.h"

/*
 * What parent and child share; the child writes.  A text that the parent reads
 * while it is written is cut or mixed, and read again a second later.
 */
struct feed_page {
	_Atomic bool changed;
	atomic_uint ticks;		/* signs of life: it differs each time */
	struct feed_status status;
	struct feed_kept kept;
};

/*
 * In the child after fork(): gives up what it has, and feeds until stop_fd is
 * readable or "parent" ends.  Ends the process.
 */
_Noreturn void feed_child_become(const struct feeds_config *config,
    const struct feed_config *feed, struct feed_page *page, int stop_fd,
    pid_t parent);

#endif
