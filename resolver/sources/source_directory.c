/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/source_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory while it is read. */
struct reading {
	struct source_directory *directory;
	const char *path;
	int path_length;	/* without slashes at its end */
	const char *ending;
	DIR *stream;
	struct diag *diag;
};

static bool
has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), tail = strlen(ending);

	return length > tail && strcmp(name + length - tail, ending) == 0;
}

static int
add_path(struct reading *r, char *path)
{
	struct source_directory *directory = r->directory;
	struct source_directory_file *files = NULL;

	if (directory->count == SOURCE_DIRECTORY_MAX)
		diag_add(r->diag, DIAG_ERROR, r->path, 0, "has more than %d"
		    " files: put what they hold into fewer, or into several"
		    " directories", SOURCE_DIRECTORY_MAX);
	else
		files = reallocarray(directory->files, directory->count + 1,
		    sizeof(*files));
	if (files == NULL) {
		free(path);
		return directory->count == SOURCE_DIRECTORY_MAX ? -E2BIG :
		    -ENOMEM;
	}
	directory->files = files;
	files[directory->count++] =
	    (struct source_directory_file){ .path = path, .fd = -1 };
	return 0;
}

static int
take_name(struct reading *r, const char *name)
{
	char *path;

	if (name[0] == '.' || has_ending(name, "~"))
		return 0;
	if (asprintf(&path, "%.*s/%s", r->path_length, r->path, name) < 0)
		return -ENOMEM;
	if (has_ending(name, r->ending))
		return add_path(r, path);
	diag_add(r->diag, DIAG_WARNING, path, 0, "is ignored: of a directory"
	    " only files *%s are read", r->ending);
	free(path);
	return 0;
}

static int
read_names(struct reading *r)
{
	const struct dirent *entry;
	int error = 0;

	while (error == 0 && (errno = 0, entry = readdir(r->stream)) != NULL)
		error = take_name(r, entry->d_name);
	return error != 0 ? error : -errno;
}

static int
compare_paths(const void *a, const void *b)
{
	const struct source_directory_file *one = a, *other = b;

	return strcmp(one->path, other->path);
}

/* False if the file is to be skipped: a directory, or removed meanwhile. */
static bool
open_file(const struct reading *r, struct source_directory_file *file,
    bool *failed)
{
	const char *name = file->path + r->path_length + 1;
	struct stat st;

	file->fd = source_file_open(dirfd(r->stream), name);
	if (file->fd < 0) {
		int error = file->fd;

		if (error == -ENOENT && fstatat(dirfd(r->stream), name, &st,
		    AT_SYMLINK_NOFOLLOW) != 0)
			return false;
		source_file_refuse(file->path, error, "mesh.tables", r->diag);
	} else if (fstat(file->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		diag_add(r->diag, DIAG_WARNING, file->path, 0, "is ignored:"
		    " directories in a directory are not read");
		return false;
	}
	*failed |= file->fd < 0 ||
	    !source_file_check(file->path, file->fd, r->diag);
	return true;
}

static void
close_file(struct source_directory_file *file)
{
	free(file->path);
	if (file->fd >= 0)
		(void)close(file->fd);
}

/* Opens all files, even after a failure, so that all faults are reported. */
static int
open_files(const struct reading *r)
{
	struct source_directory *directory = r->directory;
	size_t kept = 0;
	bool failed = false;

	if (directory->count > 0)
		qsort(directory->files, directory->count,
		    sizeof(*directory->files), compare_paths);
	for (size_t i = 0; i < directory->count; i++) {
		struct source_directory_file file = directory->files[i];

		if (open_file(r, &file, &failed))
			directory->files[kept++] = file;
		else
			close_file(&file);
	}
	directory->count = kept;
	if (kept == 0)
		diag_add(r->diag, DIAG_WARNING, r->path, 0, "holds no files%s%s:"
		    " no names come from it", *r->ending != '\0' ? " *" : "",
		    r->ending);
	return failed ? -EIO : 0;
}

/* The length without trailing slashes. */
static int
length_of(const char *path)
{
	size_t length = strlen(path);

	while (length > 0 && path[length - 1] == '/')
		length--;
	return (int)length;
}

int
source_directory_open(struct source_directory *directory, int fd,
    const char *path, const char *ending, struct diag *diag)
{
	struct reading r = { .directory = directory, .path = path,
		.path_length = length_of(path), .ending = ending,
		.stream = fdopendir(fd), .diag = diag };
	size_t errors = diag->errors;
	int error;

	*directory = (struct source_directory){ .count = 0 };
	if (r.stream == NULL) {
		error = -errno;
		(void)close(fd);
	} else {
		error = read_names(&r);
		if (error == 0)
			error = open_files(&r);
		(void)closedir(r.stream);
	}
	if (error == 0)
		return 0;
	if (diag->errors == errors)
		diag_add(diag, DIAG_ERROR, path, 0, "cannot be read: %s",
		    strerror(-error));
	source_directory_close(directory);
	return error;
}

void
source_directory_close(struct source_directory *directory)
{
	for (size_t i = 0; i < directory->count; i++)
		close_file(&directory->files[i]);
	free(directory->files);
	*directory = (struct source_directory){ .count = 0 };
}
