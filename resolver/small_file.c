/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/text/utf8.h"

/* One octet more than there should be is asked for: it may have grown. */
static int
read_whole(int fd, const struct stat *st, struct small_file *file)
{
	const size_t size = (size_t)st->st_size;
	int error;

	file->octets = malloc(size + 1);
	if (file->octets == NULL)
		return -ENOMEM;
	error = fds_read_all(fd, file->octets, size + 1, &file->length);
	if (error == 0 && file->length != size)
		error = -EAGAIN;
	if (error == 0 && !bom_take(file->octets, &file->length))
		error = -EILSEQ;
	if (error == 0)
		file->octets[file->length] = '\0';
	else
		small_file_wipe(file);
	return error;
}

int
small_file_read_at(int directory, const char *path, int flags, size_t most,
    struct small_file *file)
{
	const int fd = openat(directory, path, O_RDONLY | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC | flags);
	struct stat st;
	int error;

	*file = (struct small_file){ .octets = NULL };
	if (fd < 0)
		return errno == ENXIO ? -EINVAL : -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode))
		error = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else
		error = (uint64_t)st.st_size > most ? -EFBIG :
		    read_whole(fd, &st, file);
	(void)close(fd);
	return error;
}

int
small_file_read(const char *path, struct small_file *file)
{
	return small_file_read_at(AT_FDCWD, path, 0, SMALL_FILE_MAX, file);
}

const char *
small_file_error(int error)
{
	switch (error) {
	case -EISDIR:
		return "it is a directory: name the file in it";
	case -EINVAL:
		return "it is not a regular file";
	case -EFBIG:
		return "it is too large; is it the right file?";
	case -EAGAIN:
		return "it changed while it was read: write to another file "
		    "and rename that";
	case -EILSEQ:
		return "it " BOM_UTF16;
	case -ELOOP:
		return "it is a symbolic link that is not followed; put the "
		    "file itself there";
	default:
		return strerror(-error);
	}
}

void
small_file_wipe(struct small_file *file)
{
	if (file->octets != NULL)
		explicit_bzero(file->octets, file->length);
	free(file->octets);
	*file = (struct small_file){ .octets = NULL };
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct span
small_file_token(const char *octets, size_t length, size_t most)
{
	while (length > 0 && is_space(octets[length - 1]))
		length--;
	while (length > 0 && is_space(*octets)) {
		octets++;
		length--;
	}
	for (size_t i = 0; i < length; i++) {
		if (octets[i] <= ' ' || octets[i] > '~')
			length = 0;
	}
	return (struct span){ octets, length <= most ? length : 0 };
}
