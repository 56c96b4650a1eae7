/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/file_stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <xxhash.h>

/* More than a directory source may have (source_directory.h). */
#define MAX_FILES	1024

struct file_stamp
file_stamp_of_stat(const struct stat *st)
{
	struct file_stamp stamp;

	memset(&stamp, 0, sizeof(stamp));
	stamp.device = st->st_dev;
	stamp.inode = st->st_ino;
	stamp.size = st->st_size;
	stamp.modified = st->st_mtim;
	stamp.changed = st->st_ctim;
	return stamp;
}

/* 0 for a dangling link. */
static uint64_t
hash_file(DIR *directory, const char *name)
{
	struct file_stamp stamp;
	struct stat st;

	if (fstatat(dirfd(directory), name, &st, 0) != 0)
		return 0;
	stamp = file_stamp_of_stat(&st);
	return XXH3_64bits_withSeed(&stamp, sizeof(stamp),
	    XXH3_64bits(name, strlen(name)));
}

/* Independent of the order in which readdir(3) returns them. */
static uint64_t
hash_files(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t hash = 0;
	unsigned int count = 0;

	if (directory == NULL)
		return 0;
	while (count < MAX_FILES && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		hash += hash_file(directory, entry->d_name);
		count++;
	}
	(void)closedir(directory);
	return hash + count;
}

struct file_stamp
file_stamp_of(const char *path)
{
	struct file_stamp stamp;
	struct stat st;

	memset(&stamp, 0, sizeof(stamp));
	if (stat(path, &st) != 0)
		return stamp;
	if (!S_ISDIR(st.st_mode))
		return file_stamp_of_stat(&st);
	/* Without the directory's times: hidden files change them, too. */
	stamp.device = st.st_dev;
	stamp.inode = st.st_ino;
	stamp.files = hash_files(path);
	return stamp;
}

bool
file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
