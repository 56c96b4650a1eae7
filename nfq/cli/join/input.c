/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/join/plan.h"

#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/fds.h"
#include "resolver/text/utf8.h"

int
input_directory(const char *path, struct diag *diag)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		diag_add(diag, DIAG_ERROR, path, 0, "%s; name the directory "
		    "that istioctl x workload entry configure wrote",
		    strerror(errno));
	return fd;
}

/* One octet more than the limit is enough to see that it is too long. */
static int
read_whole(struct input *input, int fd, size_t limit)
{
	int error;

	input->octets = malloc(limit + 2);
	if (input->octets == NULL)
		return -ENOMEM;
	error = fds_read_all(fd, input->octets, limit + 1, &input->length);
	if (error == 0 && input->length > limit)
		return -EFBIG;
	if (error == 0 && !bom_take(input->octets, &input->length))
		error = -EILSEQ;
	input->octets[input->length] = '\0';
	return error;
}

static int
read_file(struct input *input, int fd, size_t limit)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return read_whole(input, fd, limit);
}

int
input_read(struct input *input, int directory, const char *directory_path,
    const char *name, size_t limit, struct diag *diag)
{
	int fd, error;

	if (asprintf(&input->path, "%s/%s", directory_path, name) < 0)
		input->path = NULL;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	error = fd < 0 ? -errno : input->path == NULL ? -ENOMEM :
	    read_file(input, fd, limit);
	if (fd >= 0)
		(void)close(fd);
	if (error == -ELOOP)
		diag_add(diag, DIAG_ERROR, input->path, 0, "is a symbolic "
		    "link, which is not followed; put the file itself there");
	else if (error == -EINVAL)
		diag_add(diag, DIAG_ERROR, input->path, 0,
		    "is not a regular file");
	else if (error == -EILSEQ)
		diag_add(diag, DIAG_ERROR, input->path, 0, BOM_UTF16);
	else if (error == -EFBIG)
		diag_add(diag, DIAG_ERROR, input->path, 0,
		    "is larger than %zu octets; is it the right file?", limit);
	else if (error < 0 && error != -ENOENT)
		diag_add(diag, DIAG_ERROR, input->path, 0,
		    "cannot be read: %s", strerror(-error));
	return error;
}

void
input_free(struct input *input)
{
	if (input->octets != NULL)
		explicit_bzero(input->octets, input->length);
	free(input->octets);
	free(input->path);
	*input = (struct input){ .path = NULL };
}
