/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that a source includes ($INCLUDE of zone files).  The compiler process
 * has no privilege to open them.  It asks its parent, the broker, which opened
 * the source.  The broker looks only at the file's name, and opens only files
 * beneath the directory of that source.
 */
#ifndef NFDNS_RESOLVER_SOURCES_INCLUDE_H
#define NFDNS_RESOLVER_SOURCES_INCLUDE_H

#include <stddef.h>

/* Most files that one compilation may include. */
#define INCLUDE_MAX_FILES	100
/* Longest name, in octets. */
#define INCLUDE_MAX_NAME	512
/* Longest request, in octets. */
#define INCLUDE_REQUEST_MAX	(INCLUDE_MAX_NAME + 32)

/*
 * Opens name for reading, without blocking on a fifo.  name is relative to the
 * directory of the file at source_path, or an absolute path below it.  Symbolic
 * links are followed as long as they stay beneath it (openat2(2)).  Returns an
 * fd, or a negative errno: -EXDEV for a file elsewhere.
 */
int include_open(const char *source_path, const char *name)
    __attribute__((warn_unused_result));

/*
 * The same through the broker, the other end of a SOCK_SEQPACKET socket.  The
 * request is one line "I NUMBER NAME" with the number of the source; the answer
 * is an errno and the open file.
 */
int include_ask(int broker, unsigned int source, const char *name)
    __attribute__((warn_unused_result));

/*
 * The broker's side: opens the file and answers through broker.  Returns 0, or
 * a negative errno if the answer cannot be sent.
 */
int include_serve(int broker, const char *source_path, const char *name)
    __attribute__((warn_unused_result));

#endif
