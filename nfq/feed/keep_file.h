/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of keep.h in their directory: replaced at one go, and read through a
 * window, so that a table that is kept takes no memory.
 */
#ifndef NFDNS_NFQ_FEED_KEEP_FILE_H
#define NFDNS_NFQ_FEED_KEEP_FILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "nfq/feed/table_names.h"
#include "resolver/feed/feed.h"
#include "resolver/sources/feed_file.h"

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

/* Whether "name" is still the very file that was read. */
bool keep_file_is_current(const struct keep_file *file, int directory,
    const char *name);

/*
 * Makes "name" a file of that header and table, by rename, and on the disk before
 * this returns.  0 and *file, which is open; or a negative errno, and "name" is what
 * it was.
 */
int keep_file_write(struct keep_file *file, int directory, const char *name,
    const struct feed_header *header, const struct feed_table *table)
    __attribute__((warn_unused_result));

void keep_file_clear(struct keep_file *file);

#endif
