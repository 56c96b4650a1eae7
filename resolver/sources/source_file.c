/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/text/utf8.h"

int
source_file_open(int directory, const char *path)
{
	int fd = openat(directory, path,
	    O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

void
source_file_refuse(const char *path, int error, const char *option,
    struct diag *diag)
{
	const char *why = strerror(-error);

	if (error == -ENOENT)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s: "
		    "write it or take it out of %s", why, option);
	else if (error == -EMFILE)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s: "
		    "name fewer files in %s, or raise LimitNOFILE", why,
		    option);
	else
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be opened: %s",
		    why);
}

/* The error for something that is not a regular file. */
static const char *
kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "is a directory: name the file in it";
	case S_IFIFO:
		return "is a fifo: write what comes out of it to a file and"
		    " name that";
	case S_IFSOCK:
		return "is a socket: name a file";
	default:
		return "is a device: name a file";
	}
}

bool
source_file_check(const char *path, int fd, struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		diag_add(diag, DIAG_ERROR, path, 0,
		    "cannot be examined: %s", strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		diag_add(diag, DIAG_ERROR, path, 0, "%s",
		    kind_of(st.st_mode));
		return false;
	}
	if ((uint64_t)st.st_size > SOURCE_FILE_MAX) {
		diag_add(diag, DIAG_ERROR, path, 0, "has %llu MiB, the"
		    " limit is %zu MiB: split it into several tables",
		    (unsigned long long)st.st_size >> 20,
		    SOURCE_FILE_MAX >> 20);
		return false;
	}
	return true;
}

/* Reads until the end or until the buffer is full. */
static ssize_t
read_up_to(int fd, char *buffer, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, buffer + got, size - got, (off_t)got);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			got += (size_t)n;
	}
	return (ssize_t)got;
}

char *
source_file_read(const char *path, int fd, size_t *length, struct diag *diag)
{
	char *data = NULL;
	struct stat st;
	ssize_t got;

	if (!source_file_check(path, fd, diag) || fstat(fd, &st) != 0)
		return NULL;
	/* One octet more, to notice a file that grows meanwhile. */
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL) {
		diag_add(diag, DIAG_ERROR, path, 0, "no memory for its"
		    " %lld octets", (long long)st.st_size);
		return NULL;
	}
	got = read_up_to(fd, data, (size_t)st.st_size + 1);
	*length = got > 0 ? (size_t)got : 0;
	if (got == (ssize_t)st.st_size && bom_take(data, length))
		return data;
	if (got == (ssize_t)st.st_size)
		diag_add(diag, DIAG_ERROR, path, 0, BOM_UTF16);
	else if (got < 0)
		diag_add(diag, DIAG_ERROR, path, 0,
		    "cannot be read: %s", strerror((int)-got));
	else
		diag_add(diag, DIAG_ERROR, path, 0, "changed while it"
		    " was read: write to another file and rename that");
	free(data);
	return NULL;
}
