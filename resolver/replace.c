/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
replace_begin(struct replace *r, int directory, const char *path, mode_t mode)
{
	int n;

	*r = (struct replace){ .directory = directory, .path = path };
	n = snprintf(r->fresh, sizeof(r->fresh), "%s.new", path);
	if (n < 0 || (size_t)n >= sizeof(r->fresh))
		return -ENAMETOOLONG;
	(void)unlinkat(directory, r->fresh, 0);
	r->fd = openat(directory, r->fresh, O_RDWR | O_CREAT | O_EXCL |
	    O_CLOEXEC | O_NOFOLLOW, mode);
	if (r->fd < 0)
		return -errno;
	if (fchmod(r->fd, mode) < 0)
		return replace_end(r, REPLACE_QUICKLY, -errno);
	return 0;
}

FILE *
replace_stream(struct replace *r)
{
	r->stream = fdopen(r->fd, "w");
	return r->stream;
}

/*
 * Syncs the directory of a path (as for openat(2)) after a rename.  Failure is not
 * told: the rename cannot be undone, and counts even if a crash of the machine
 * undoes it.
 */
static void
replace_sync_directory(int directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int fd;

	if (slash == NULL && directory != AT_FDCWD) {
		(void)fsync(directory);
		return;
	}
	(void)snprintf(parent, sizeof(parent), "%.*s",
	    slash != NULL ? (int)(slash - path) + 1 : 1,
	    slash != NULL ? path : ".");
	fd = openat(directory, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
}

/* The first error that the stream or descriptor knows of. */
static int
make_whole(struct replace *r, enum replace_how how)
{
	if (r->stream != NULL && (fflush(r->stream) != 0 || ferror(r->stream)))
		return errno != 0 ? -errno : -EIO;
	return how == REPLACE_DURABLY && fsync(r->fd) < 0 ? -errno : 0;
}

int
replace_end(struct replace *r, enum replace_how how, int error)
{
	errno = 0;
	if (error == 0)
		error = make_whole(r, how);
	if ((r->stream != NULL ? fclose(r->stream) : close(r->fd)) != 0 &&
	    error == 0)
		error = -errno;
	if (error == 0 && renameat(r->directory, r->fresh, r->directory,
	    r->path) < 0)
		error = -errno;
	if (error != 0)
		(void)unlinkat(r->directory, r->fresh, 0);
	else if (how == REPLACE_DURABLY)
		replace_sync_directory(r->directory, r->path);
	return error;
}
