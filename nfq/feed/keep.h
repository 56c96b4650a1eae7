/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is fed is kept: state_dir/NAME.table is the last good table of a feed
 * (resolver/sources/feed_file.h), replaced by rename(2), so that nfdnsd has its
 * names before any connection exists.
 * One that has lost most of its names is kept like any other: nfdnsd waits before it
 * believes that (nfq/supervisor/reload.c).
 */
#ifndef NFDNS_NFQ_FEED_KEEP_H
#define NFDNS_NFQ_FEED_KEEP_H

#include <stddef.h>

#include "policy/status/feed_status.h"
#include "resolver/feed/feed.h"

#define KEEP_TELL_MS	60000

struct feed_keep;			/* owns the directory and the open file */

/*
 * Opens state_dir, which must be this user's, and reads the table in it, if
 * there is a sound one.  "shown" is what the status says of it; it is written
 * until feed_keep_close().  0, or a negative errno for state_dir.
 */
int feed_keep_open(struct feed_keep **keep, const char *state_dir,
    const char *name, struct feed_kept *shown)
    __attribute__((warn_unused_result));

/*
 * Keeps a table that was received from "source", if it is another one than before.
 * "now" is CLOCK_REALTIME seconds, "tick" the same moment.  "why" is one line, set
 * with FEED_FAILED.
 */
enum feed_verdict feed_keep_offer(struct feed_keep *keep,
    const struct feed_table *table, const char *source, int64_t now,
    monotime_t tick, char why[static FEED_TEXT]);

/*
 * Tells of the tables that were kept: of one at once, and of those that follow within
 * KEEP_TELL_MS in one line.  To be called now and then; what is wrong is told at once.
 */
void feed_keep_tell(struct feed_keep *keep, monotime_t tick);

/* NULL is allowed. */
void feed_keep_close(struct feed_keep *keep);

#endif
