/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of keep.h in their directory: read whole, replaced at one go. */
#ifndef NFDNS_NFQ_FEED_KEEP_FILE_H
#define NFDNS_NFQ_FEED_KEEP_FILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "resolver/sources/feed_file.h"

/* One of state_dir's tables in memory; all zero: there is none. */
struct keep_file {
	struct feed_header header;
	char *octets;			/* the file, of malloc(3) */
	const char *table;		/* in it */
	struct stat stat;
};

/*
 * Reads "name" in the directory: a sound regular file, no link.  0; -ENOENT;
 * -EPROTO and *why; or another negative errno.  With an error, *file is empty.
 */
int keep_file_read(struct keep_file *file, int directory, const char *name,
    const char **why) __attribute__((warn_unused_result));

/* Whether "name" is still the very file that was read. */
bool keep_file_is_current(const struct keep_file *file, int directory,
    const char *name);

/*
 * Makes "name" a file of that header and table, by rename, and on the disk
 * before this returns.  0 or a negative errno; then "name" is what it was.
 */
int keep_file_write(int directory, const char *name,
    const struct feed_header *header, const void *table)
    __attribute__((warn_unused_result));

/* rename(2) within the directory, on the disk before this returns. */
int keep_file_rename(int directory, const char *from, const char *to)
    __attribute__((warn_unused_result));

void keep_file_clear(struct keep_file *file);

#endif
