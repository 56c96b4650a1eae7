/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are read whole: configuration, certificates, keys, tokens. */
#ifndef NFDNS_RESOLVER_SMALL_FILE_H
#define NFDNS_RESOLVER_SMALL_FILE_H

#include <stddef.h>

#include "resolver/text/span.h"

#define SMALL_FILE_MAX	((size_t)4 << 20)	/* roots are bundles */

struct small_file {
	char *octets;			/* and a NUL; never NULL after success */
	size_t length;
};

/*
 * Reads a regular file of at most "most" octets, without blocking on a fifo.
 * "directory" as for openat(2); flags: O_NOFOLLOW or 0.  Returns 0, or a negative
 * errno: -EISDIR, -EINVAL for what else is not a regular file, -EFBIG, -EAGAIN if
 * it changed its length meanwhile, -EILSEQ for UTF-16.  A byte order mark is left
 * out.  small_file_wipe() overwrites and frees the octets, since they may be a
 * key; it accepts one of zeros.
 */
int small_file_read_at(int directory, const char *path, int flags, size_t most,
    struct small_file *file) __attribute__((warn_unused_result));
void small_file_wipe(struct small_file *file);

/* The same of SMALL_FILE_MAX octets at most; links are followed. */
int small_file_read(const char *path, struct small_file *file)
    __attribute__((warn_unused_result));

/* What is wrong, for a person: behind "cannot be read: ". */
const char *small_file_error(int error);

/*
 * The token that octets are, without the white space around it.  Empty if there
 * is none of at most "most" visible characters: it becomes a header's value,
 * and nothing may add headers of its own.
 */
struct span small_file_token(const char *octets, size_t length, size_t most);

#endif
