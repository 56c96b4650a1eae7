/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/feed/keep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/replace.h"

#define FILE_OCTETS_MAX	((off_t)1000 << 20)	/* as of a source's file */

/* All of an open file, or a negative errno. */
static int
read_whole(struct keep_file *file, int fd)
{
	const size_t size = (size_t)file->stat.st_size;
	size_t got;
	int error;

	file->octets = malloc(size + 1);
	if (file->octets == NULL)
		return -ENOMEM;
	error = fds_read_all(fd, file->octets, size, &got);
	return error == 0 && got < size ? -EPROTO : error;
}

int
keep_file_read(struct keep_file *file, int directory, const char *name,
    const char **why)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
	int error = 0;
	size_t length;

	memset(file, 0, sizeof(*file));
	*why = "it is no regular file";
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EPROTO : -errno;
	if (fstat(fd, &file->stat) < 0)
		error = -errno;
	else if (!S_ISREG(file->stat.st_mode) ||
	    file->stat.st_size > FILE_OCTETS_MAX)
		error = -EPROTO;
	else
		error = read_whole(file, fd);
	(void)close(fd);
	if (error == 0 && (file->table = feed_file_check(&file->header,
	    file->octets, (size_t)file->stat.st_size, &length, why)) == NULL)
		error = -EPROTO;
	if (error < 0)
		keep_file_clear(file);
	return error;
}

bool
keep_file_is_current(const struct keep_file *file, int directory,
    const char *name)
{
	const struct stat *a = &file->stat;
	struct stat b;

	if (fstatat(directory, name, &b, AT_SYMLINK_NOFOLLOW) < 0)
		return file->octets == NULL;
	return file->octets != NULL && a->st_dev == b.st_dev &&
	    a->st_ino == b.st_ino && a->st_size == b.st_size &&
	    a->st_ctim.tv_sec == b.st_ctim.tv_sec &&
	    a->st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

int
keep_file_rename(int directory, const char *from, const char *to)
{
	if (renameat(directory, from, directory, to) < 0)
		return -errno;
	replace_sync_directory(directory, to);
	return 0;
}

int
keep_file_write(int directory, const char *name,
    const struct feed_header *header, const void *table)
{
	char text[FEED_FILE_HEADER_MAX];
	struct iovec parts[2] = {
		{ text, feed_file_header_write(header, text) },
		{ (void *)(uintptr_t)table, header->length },
	};
	struct replace file;
	/* nfdnsd, which reads it, is another user. */
	int error = replace_begin(&file, directory, name, 0644);

	if (error < 0)
		return error;
	error = fds_write_all(file.fd, parts, 2);
	return replace_end(&file, REPLACE_DURABLY, error);
}

void
keep_file_clear(struct keep_file *file)
{
	free(file->octets);
	memset(file, 0, sizeof(*file));
}
