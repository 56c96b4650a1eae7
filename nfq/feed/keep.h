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
#include <sys/stat.h>

#include "policy/status/feed_status.h"
#include "resolver/feed/feed.h"
#include "nfq/feed/table_names.h"
#include "resolver/sources/feed_file.h"

#define KEEP_TELL_MS	60000
/*
 * A table may have one name for so many octets of the feed's limit: names of two
 * tables are all that is kept in memory.
 */
#define KEEP_NAME_OCTETS 64

struct feed_keep;			/* owns the directory and the table's names */

/*
 * Opens state_dir, which must be this user's, and reads the table in it, if
 * there is a sound one.  "shown" is what the status says of it; it is written
 * until feed_keep_close().  0, or a negative errno for state_dir.
 */
int feed_keep_open(struct feed_keep **keep, const char *state_dir,
    const char *name, size_t most_names, struct feed_kept *shown)
    __attribute__((warn_unused_result));

/*
 * Keeps a table that was received from "source", if it is sound and another one
 * than before.  "now" is CLOCK_REALTIME seconds, "tick" the same moment.  Logs what changed.  "why" is
 * one line, set unless the verdict is FEED_APPLIED or FEED_SAME.
 */
enum feed_verdict feed_keep_offer(struct feed_keep *keep,
    const struct feed_table *table, const char *source, int64_t now,
    monotime_t tick, char why[static FEED_TEXT]);

/* Whether such a table could be kept; if not, why is one line. */
bool feed_keep_is_sound(const struct feed_keep *keep,
    const struct feed_table *table, char why[static FEED_TEXT]);

/*
 * Tells of the tables that were kept: of one at once, and of those that follow within
 * KEEP_TELL_MS in one line.  To be called now and then; what is wrong is told at once.
 */
void feed_keep_tell(struct feed_keep *keep, monotime_t tick);

/* NULL is allowed. */
void feed_keep_close(struct feed_keep *keep);

/*
 * The files of keep.h in their directory: replaced at one go, and read through a
 * window, so that a table that is kept takes no memory.
 */

/* One of state_dir's tables, open: it can be read also when it is replaced. */
struct keep_file {
	struct feed_header header;
	int fd;				/* -1: there is none */
	struct stat stat;
};

#define KEEP_FILE_NONE	(struct keep_file){ .fd = -1 }

/*
 * Opens "name" in the directory: a sound regular file, no link.  Its names are those
 * of no format if they cannot be read.  0; -ENOENT; -EPROTO and *why; or another
 * negative errno.  With an error there is no file and no name.
 */
int keep_file_read(struct keep_file *file, int directory, const char *name,
    struct table_names *names, const char **why)
    __attribute__((warn_unused_result));

void keep_file_clear(struct keep_file *file);

#endif
