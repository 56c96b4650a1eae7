/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A short-lived process without any privilege that compresses one file. */
#ifndef NFDNS_NFQ_PROCESS_COMPRESS_H
#define NFDNS_NFQ_PROCESS_COMPRESS_H

#include <sys/types.h>

/*
 * Starts a child that writes what "in" holds, from its beginning, to "out" in
 * the format of gzip (RFC 1952).  As root it changes to uid and gid.  It ends
 * with status 0 when all is on disk, and dies with this process.  Its pid, which
 * the caller reaps, or a negative errno.
 */
pid_t compress_start(int in, int out, uid_t uid, gid_t gid)
    __attribute__((warn_unused_result));

#endif
