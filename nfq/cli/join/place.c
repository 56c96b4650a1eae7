/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/cli/join/plan.h"
#include "resolver/fds.h"
#include "resolver/replace.h"

#define MAX_BACKUPS	100

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

int
input_read(struct input *input, int directory, const char *directory_path,
    const char *name, size_t limit, struct diag *diag)
{
	int error;

	if (asprintf(&input->path, "%s/%s", directory_path, name) < 0)
		input->path = NULL;
	error = input->path == NULL ? -ENOMEM : small_file_read_at(directory,
	    name, O_NOFOLLOW, limit, &input->file);
	if (error < 0 && error != -ENOENT)
		diag_add(diag, DIAG_ERROR, input->path, 0,
		    "cannot be read: %s", small_file_error(error));
	return error;
}

void
input_free(struct input *input)
{
	small_file_wipe(&input->file);
	free(input->path);
	*input = (struct input){ .path = NULL };
}

static void
failed(struct diag *diag, const char *path, const char *what, int error)
{
	diag_add(diag, DIAG_ERROR, path, 0, "%s: %s", what,
	    small_file_error(error));
}

/* A file that is much longer than these octets is another one, too. */
bool
place_look(struct place *place, struct diag *diag)
{
	struct small_file file;
	const int error = small_file_read_at(AT_FDCWD, place->path, O_NOFOLLOW,
	    SMALL_FILE_MAX, &file);
	const bool same = error == 0 && file.length == place->length &&
	    memcmp(file.octets, place->octets, file.length) == 0;

	small_file_wipe(&file);
	place->state = error == -ENOENT ? PLACE_NEW : same ? PLACE_SAME :
	    PLACE_OTHER;
	if (error == 0 || error == -ENOENT || error == -EFBIG ||
	    error == -EILSEQ)
		return true;
	failed(diag, place->path, "cannot be replaced", error);
	return false;
}

/* A second name for what is there; those of earlier times stay. */
static int
keep_old(const char *path)
{
	char name[PATH_MAX];

	for (int i = 1; i <= MAX_BACKUPS; i++) {
		const int n = i == 1 ?
		    snprintf(name, sizeof(name), "%s.backup", path) :
		    snprintf(name, sizeof(name), "%s.backup-%d", path, i);

		if (n < 0 || (size_t)n >= sizeof(name))
			return -ENAMETOOLONG;
		if (link(path, name) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int
put(const struct place *place)
{
	struct iovec whole = { place->octets, place->length };
	struct replace file;
	int error = replace_begin(&file, AT_FDCWD, place->path, place->mode);
	struct stat old;

	if (error < 0)
		return error;
	/* The file that is replaced keeps owner and mode. */
	if (lstat(place->path, &old) == 0)
		error = fchown(file.fd, old.st_uid, old.st_gid) < 0 ||
		    fchmod(file.fd, old.st_mode & 0777) < 0 ? -errno : 0;
	else if (errno != ENOENT)
		error = -errno;
	else
		error = place->group != (gid_t)-1 && fchown(file.fd, (uid_t)-1,
		    place->group) < 0 ? -errno : 0;
	if (error == 0)
		error = fds_write_all(file.fd, &whole, 1);
	if (error == 0 && place->state == PLACE_OTHER && place->backup)
		error = keep_old(place->path);
	return replace_end(&file, REPLACE_DURABLY, error);
}

bool
place_write(const struct place *place, struct diag *diag)
{
	int error;
	char *copy;

	if (place->state == PLACE_SAME)
		return true;
	copy = strdup(place->path);
	error = copy == NULL ? -ENOMEM : 0;
	if (error == 0 && mkdir(dirname(copy), 0755) < 0 && errno != EEXIST)
		error = -errno;
	free(copy);
	if (error == 0)
		error = put(place);
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
	const int error = unlink(path) < 0 ? errno : 0;
	char other[PATH_MAX];

	/* What a writer left that was killed. */
	if (snprintf(other, sizeof(other), "%s.new", path) <
	    (int)sizeof(other))
		(void)unlink(other);
	(void)snprintf(other, sizeof(other), "%s", path);
	if ((error == 0 || error == ENOENT) && directory)
		(void)rmdir(dirname(other));
	if (error == 0 || error == ENOENT || error == ENOTDIR)
		return error == 0;
	failed(diag, path, "cannot be removed", -error);
	return -1;
}
