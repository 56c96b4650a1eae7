/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identity and state of a file, to tell whether it was replaced or changed. */
#ifndef NFDNS_NFQ_PROCESS_FILE_STAMP_H
#define NFDNS_NFQ_PROCESS_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Compared and hashed as octets, so padding is zero. */
struct file_stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	uint64_t files;			/* of a directory: a hash of its files */
};

/*
 * Follows symbolic links.  All zero if there is no file.  The stamp of a
 * directory is that of its files; names that begin with '.' are ignored, and of
 * very many files only some are read.
 */
struct file_stamp file_stamp_of(const char *path);

/* Of a file that fstat(2) has told of, and which is no directory. */
struct file_stamp file_stamp_of_stat(const struct stat *st);

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

#endif
