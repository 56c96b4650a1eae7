/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libgen.h>

#include "nfq/cli/join/plan.h"
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

#define MAX_BACKUPS	100

/* A file by its directory, which is open, and its name in it. */
struct spot {
	int directory;			/* -1: none */
	char *path;			/* a copy, for its parts */
	char name[NAME_MAX + 1];
	char fresh[NAME_MAX + 1];	/* ".NAME.nfdns-join", while it is written */
};

static void
spot_close(struct spot *spot)
{
	if (spot->directory >= 0)
		(void)close(spot->directory);
	free(spot->path);
}

/* 0 or a negative errno; spot_close() after both. */
static int
spot_open(struct spot *spot, const char *path)
{
	const char *slash = strrchr(path, '/');
	int written;

	*spot = (struct spot){ .directory = -1 };
	if (slash == NULL || slash == path || slash[1] == '\0')
		return -EINVAL;
	written = snprintf(spot->fresh, sizeof(spot->fresh), ".%s.nfdns-join",
	    slash + 1);
	if (written < 0 || (size_t)written >= sizeof(spot->fresh))
		return -ENAMETOOLONG;
	(void)snprintf(spot->name, sizeof(spot->name), "%s", slash + 1);
	spot->path = strndup(path, (size_t)(slash - path));
	if (spot->path == NULL)
		return -ENOMEM;
	spot->directory = open(spot->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return spot->directory < 0 ? -errno : 0;
}

static void
failed(struct diag *diag, const char *path, const char *what, int error)
{
	diag_add(diag, DIAG_ERROR, path, 0, "%s: %s", what,
	    error == -ELOOP ? "it is a symbolic link; put the file itself "
	    "there" : error == -ESTALE ? "it has changed meanwhile; do it "
	    "again" : strerror(-error));
}

/* Whether the open file holds just these octets; or a negative errno. */
static int
holds(int fd, const char *octets, size_t length, struct stat *st)
{
	char part[4096];
	size_t at = 0;

	if (fstat(fd, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	for (;;) {
		const ssize_t n = read(fd, part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return at == length;
		if ((size_t)n > length - at ||
		    memcmp(part, octets + at, (size_t)n) != 0)
			return 0;
		at += (size_t)n;
	}
}

bool
place_look(struct place *place, struct diag *diag)
{
	struct spot spot;
	int error = spot_open(&spot, place->path), fd = -1, same = 0;

	place->state = PLACE_NEW;
	if (error == 0) {
		fd = openat(spot.directory, spot.name, O_RDONLY | O_NOFOLLOW |
		    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		error = fd < 0 ? -errno : 0;
	}
	if (error == 0) {
		same = holds(fd, place->octets, place->length, &place->found);
		error = same < 0 ? same : 0;
		place->state = same > 0 ? PLACE_SAME : PLACE_OTHER;
	}
	if (fd >= 0)
		(void)close(fd);
	spot_close(&spot);
	if (error == 0 || error == -ENOENT)
		return true;
	failed(diag, place->path, "cannot be replaced", error == -EINVAL ?
	    -ENOTSUP : error);
	return false;
}

/* The file that is replaced keeps owner and mode. */
static int
set_owner(int fd, const struct spot *spot, const struct place *place)
{
	struct stat old;

	if (fstatat(spot->directory, spot->name, &old, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return -errno;
		if (place->group != (gid_t)-1 &&
		    fchown(fd, (uid_t)-1, place->group) < 0)
			return -errno;
		return fchmod(fd, place->mode) < 0 ? -errno : 0;
	}
	if (!S_ISREG(old.st_mode))
		return -EEXIST;
	if (fchown(fd, old.st_uid, old.st_gid) < 0)
		return -errno;
	return fchmod(fd, old.st_mode & 0777) < 0 ? -errno : 0;
}

static int
write_fresh(const struct spot *spot, const struct place *place)
{
	struct iovec whole = { place->octets, place->length };
	int error, fd;

	/* Left by a writer that was killed. */
	if (unlinkat(spot->directory, spot->fresh, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(spot->directory, spot->fresh, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = fds_write_all(fd, &whole, 1);
	if (error == 0)
		error = set_owner(fd, spot, place);
	if (error == 0 && fsync(fd) < 0)
		error = -errno;
	if (close(fd) < 0 && error == 0)
		error = -errno;
	return error;
}

/* A second name for what is there; those of earlier times stay. */
static int
keep_old(const struct spot *spot)
{
	char name[NAME_MAX + 1];

	for (int i = 1; i <= MAX_BACKUPS; i++) {
		const int written = i == 1 ? snprintf(name, sizeof(name),
		    "%s.backup", spot->name) : snprintf(name, sizeof(name),
		    "%s.backup-%d", spot->name, i);

		if (written < 0 || (size_t)written >= sizeof(name))
			return -ENAMETOOLONG;
		if (linkat(spot->directory, spot->name, spot->directory, name,
		    0) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Whether place_look() found the same file: a person may have edited it since. */
static int
is_as_found(const struct spot *spot, const struct place *place)
{
	const struct stat *then = &place->found;
	struct stat now;

	if (fstatat(spot->directory, spot->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno != ENOENT ? -errno :
		    place->state == PLACE_NEW ? 0 : -ESTALE;
	return place->state == PLACE_OTHER && now.st_dev == then->st_dev &&
	    now.st_ino == then->st_ino && now.st_size == then->st_size &&
	    now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == then->st_mtim.tv_nsec ? 0 : -ESTALE;
}

static int
put(const struct spot *spot, const struct place *place)
{
	int error = write_fresh(spot, place);

	if (error == 0)
		error = is_as_found(spot, place);

	if (error == 0 && place->state == PLACE_OTHER && place->backup)
		error = keep_old(spot);
	if (error == 0 && renameat(spot->directory, spot->fresh,
	    spot->directory, spot->name) < 0)
		error = -errno;
	if (error == 0 && fsync(spot->directory) < 0)
		error = -errno;
	if (error < 0)
		(void)unlinkat(spot->directory, spot->fresh, 0);
	return error;
}

static int
make_directory(const char *path)
{
	char *copy = strdup(path);
	int error = copy == NULL ? -ENOMEM : 0;

	if (error == 0 && mkdir(dirname(copy), 0755) < 0 && errno != EEXIST)
		error = -errno;
	free(copy);
	return error;
}

bool
place_write(const struct place *place, struct diag *diag)
{
	struct spot spot;
	int error;

	if (place->state == PLACE_SAME)
		return true;
	error = make_directory(place->path);
	if (error < 0) {
		failed(diag, place->path, "cannot be written", error);
		return false;
	}
	error = spot_open(&spot, place->path);
	if (error == 0)
		error = put(&spot, place);
	spot_close(&spot);
	if (error < 0)
		failed(diag, place->path, "cannot be written", error);
	return error == 0;
}

void
place_free(struct place *place)
{
	if (place->octets != NULL)
		explicit_bzero(place->octets, place->length);
	free(place->octets);
	free(place->path);
	*place = (struct place){ .path = NULL };
}

int
place_remove(const char *path, bool directory, struct diag *diag)
{
	struct spot spot;
	int error = spot_open(&spot, path), found = 0;

	if (error == 0) {
		(void)unlinkat(spot.directory, spot.fresh, 0);
		if (unlinkat(spot.directory, spot.name, 0) == 0)
			found = 1;
		else
			error = -errno;
	}
	if ((error == 0 || error == -ENOENT) && directory && spot.path != NULL)
		(void)rmdir(spot.path);
	spot_close(&spot);
	if (error == 0 || error == -ENOENT)
		return found;
	failed(diag, path, "cannot be removed", error);
	return -1;
}

int
place_lock(const char *directory, struct diag *diag)
{
	char *path;
	struct stat st;
	int fd, error = 0;

	if (asprintf(&path, "%s/" PLACE_LOCK, directory) < 0) {
		failed(diag, directory, "cannot be locked", -ENOMEM);
		return -1;
	}
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	free(path);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
		error = -errno;
	else if (st.st_nlink > 0)
		return fd;
	/* Without a name, it was the lock of one that has just ended. */
	if (error == 0 || error == -EWOULDBLOCK)
		diag_add(diag, DIAG_ERROR, directory, 0, "another nfdns join "
		    "or leave is at work there; wait for it");
	else
		failed(diag, directory, "cannot be locked", error);
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

void
place_unlock(const char *directory, int lock)
{
	char *path;

	if (asprintf(&path, "%s/" PLACE_LOCK, directory) >= 0) {
		(void)unlink(path);
		free(path);
	}
	(void)close(lock);
}
