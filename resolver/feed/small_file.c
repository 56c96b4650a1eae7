/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/text/utf8.h"

/* All of size octets and then the end of the file. */
static int
read_all(int fd, char *octets, size_t size)
{
	size_t used;
	/* One octet more than there should be: it may have grown. */
	int error = fds_read_all(fd, octets, size + 1, &used);

	if (error == 0 && used != size)
		error = -EAGAIN;
	octets[error == 0 ? used : 0] = '\0';
	return error;
}

static int
read_fd(int fd, struct small_file *file)
{
	struct stat st;
	int error;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size < 0 || (size_t)st.st_size > SMALL_FILE_MAX)
		return -EFBIG;
	file->length = (size_t)st.st_size;
	file->octets = malloc(file->length + 1);
	if (file->octets == NULL)
		return -ENOMEM;
	error = read_all(fd, file->octets, file->length);
	if (error == 0 && !bom_take(file->octets, &file->length))
		error = -EILSEQ;
	if (error == 0)
		file->octets[file->length] = '\0';
	else
		small_file_wipe(file);
	return error;
}

int
small_file_read(const char *path, struct small_file *file)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int error;

	memset(file, 0, sizeof(*file));
	if (fd < 0)
		return -errno;
	error = read_fd(fd, file);
	(void)close(fd);
	return error;
}

void
small_file_wipe(struct small_file *file)
{
	if (file->octets != NULL)
		explicit_bzero(file->octets, file->length);
	free(file->octets);
	file->octets = NULL;
	file->length = 0;
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
