/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A short-lived process without any privilege that compresses one file. */
#ifndef NFDNS_NFQ_PROCESS_COMPRESS_H
#define NFDNS_NFQ_PROCESS_COMPRESS_H

#include <sys/types.h>

enum compress_format {
	COMPRESS_TO_GZIP,		/* RFC 1952 */
	COMPRESS_TO_ZSTD,		/* RFC 8878, with a checksum */
};

/*
 * Starts a child that writes what "in" holds, from its beginning, to "out",
 * compressed.  As root it changes to uid and gid.  It ends with status 0 when
 * all is on disk, and dies with this process.  Its pid, which the caller
 * reaps, or a negative errno.
 */
pid_t compress_start(enum compress_format format, int in, int out, uid_t uid,
    gid_t gid) __attribute__((warn_unused_result));

#endif
