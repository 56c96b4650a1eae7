/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The octets of a file, also of one that is still written, or compressed (gzip,
 * zstd).
 */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_OCTETS_H
#define NFDNS_NFQ_CLI_LOGS_LOG_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct log_octets;

/*
 * Opens a file for reading: a regular one, or standard input ("-").  The
 * descriptor, or a negative errno: -EISDIR, -EINVAL for a FIFO or a device.
 */
int log_octets_open_file(const char *path) __attribute__((warn_unused_result));

/* Takes the descriptor, also when there is no memory: NULL. */
struct log_octets *log_octets_new(int fd) __attribute__((warn_unused_result));
void log_octets_free(struct log_octets *source);	/* NULL is allowed */

/*
 * Reads at most "size" octets.  Their number; 0: nothing is there (any more);
 * -EBADMSG: the compressed file is damaged; or another negative errno.
 */
ssize_t log_octets_read(struct log_octets *source, uint8_t *to, size_t size)
    __attribute__((warn_unused_result));

/* After 0: whether a compressed file ends where it should not. */
bool log_octets_is_cut(const struct log_octets *source);

/* Back to the beginning of a regular file; false: it is none. */
bool log_octets_rewind(struct log_octets *source);

/*
 * Goes to that octet of a plain regular file.  0; -ESPIPE: it is none; -ERANGE: it
 * is shorter; or another negative errno.
 */
int log_octets_seek(struct log_octets *source, uint64_t offset)
    __attribute__((warn_unused_result));

/*
 * Where the last whole piece of a regular file ends; "whole" as in struct
 * audit_format.  0: it is empty; or a negative errno.
 */
off_t log_octets_whole(const struct log_octets *source,
    off_t (*whole)(int fd, off_t size)) __attribute__((warn_unused_result));

#endif
