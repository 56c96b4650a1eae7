/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that a source names inside ($INCLUDE of zone files).  Who compiles
 * without privilege cannot open them: it asks the process that opened the
 * source, which looks at nothing but the file's name and lets it lie only
 * beneath the directory of that source.
 */
#ifndef NFDNS_RESOLVER_SOURCES_INCLUDE_H
#define NFDNS_RESOLVER_SOURCES_INCLUDE_H

/* Of one compilation; it is refused more. */
#define INCLUDE_MAX_FILES	100
/* Octets of a name. */
#define INCLUDE_MAX_NAME	512
/* Octets of a request. */
#define INCLUDE_REQUEST_MAX	(INCLUDE_MAX_NAME + 32)

/*
 * Opens name, relative or below the directory of the file at source_path, for
 * reading and without waiting for a fifo.  Symbolic links are followed as long
 * as they stay beneath it (openat2(2)).  An fd, or a negative errno: -EXDEV
 * for a file elsewhere.
 */
int include_open(const char *source_path, const char *name)
    __attribute__((warn_unused_result));

/*
 * The same by way of the other end of broker, a socket of type SOCK_SEQPACKET:
 * one line "I NUMBER NAME", where the number is the source's, answered by an
 * errno with the file.
 */
int include_ask(int broker, unsigned int source, const char *name)
    __attribute__((warn_unused_result));

/*
 * The broker's side: opens what was asked for and answers through broker.
 * 0, or a negative errno when the asker cannot be answered.
 */
int include_serve(int broker, const char *source_path, const char *name)
    __attribute__((warn_unused_result));

#endif
