/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells whether a file is another one than before, or has changed. */
#ifndef NFDNS_NFQ_SUPERVISOR_FILE_STAMP_H
#define NFDNS_NFQ_SUPERVISOR_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Which file it was, and in what state.  Compared, and hashed, as octets. */
struct file_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	uint64_t files;			/* of a directory: a hash of theirs */
};

/*
 * Of what links at path lead to; all zero if there is nothing.  A directory is
 * what its files are, those whose names begin with '.' aside, and of very many
 * only some are looked at.
 */
struct file_stamp file_stamp_of(const char *path);

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

#endif
