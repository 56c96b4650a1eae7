/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile/source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/compile/feed_table.h"
#include "resolver/sources/source_format.h"
#include "resolver/sources/source_file.h"

/* Adds a source with the options of "like"; takes over path and fd. */
static int
add_file(struct source_files *files, const struct mesh_source *like,
    char *path, int fd)
{
	struct mesh *mesh = &files->mesh;
	size_t wanted = mesh->source_count + 1;
	struct mesh_source *sources = reallocarray(mesh->sources, wanted,
	    sizeof(*sources));
	int *fds = reallocarray(files->fds, wanted, sizeof(*fds));

	if (sources != NULL)
		mesh->sources = sources;
	if (fds != NULL)
		files->fds = fds;
	if (sources == NULL || fds == NULL || path == NULL) {
		free(path);
		if (fd >= 0)
			(void)close(fd);
		return -ENOMEM;
	}
	sources[mesh->source_count] = *like;
	sources[mesh->source_count].path = path;
	fds[mesh->source_count++] = fd;
	return 0;
}

/* When an open file last changed, CLOCK_REALTIME seconds; 0: unknown. */
static int64_t
changed(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (int64_t)st.st_mtime : 0;
}

static int
add_directory(struct source_files *files, struct mesh_source *source, int fd,
    struct diag *diag)
{
	struct source_directory directory;
	int error;

	if (source->format->ending == NULL) {
		(void)close(fd);
		diag_add(diag, DIAG_ERROR, source->path, 0, "is a directory: a"
		    " table of the format %s is one file, name that",
		    source->format->name);
		return -EISDIR;
	}
	error = source_directory_open(&directory, fd, source->path,
	    source->format->ending, diag);
	for (size_t i = 0; i < directory.count && error == 0; i++) {
		struct source_directory_file *file = &directory.files[i];
		const int64_t when = changed(file->fd);

		if (i == 0 || when > source->changed)
			source->changed = when;
		error = add_file(files, source, file->path, file->fd);
		*file = (struct source_directory_file){ .fd = -1 };
	}
	source_directory_close(&directory);
	return error;
}

/* It need not be there: names of the other tables are answered. */
static int
add_kept(struct source_files *files, struct mesh_source *source,
    struct diag *diag)
{
	int fd = source->left_out ? -ENOENT : feed_table_open(source, diag);

	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (source->left_out)
		diag_add(diag, DIAG_WARNING, source->path, 0, "is left out: "
		    "see feed %s in nfdns status", source->feed);
	source->changed = fd >= 0 ? changed(fd) : 0;
	return add_file(files, source, strdup(source->path), fd < 0 ? -1 : fd);
}

static int
add_source(struct source_files *files, struct mesh_source *source,
    struct diag *diag)
{
	struct stat st;
	char option[PATH_MAX + 40];
	int fd;

	if (source->format->kept)
		return add_kept(files, source, diag);
	if (source->left_out) {
		diag_add(diag, DIAG_WARNING, source->path, 0, "is left out: it "
		    "is not there; write it, then nfdns reload");
		return add_file(files, source, strdup(source->path), -1);
	}
	fd = source_file_open(AT_FDCWD, source->path);
	if (fd < 0) {
		(void)snprintf(option, sizeof(option), source->file == NULL ?
		    "mesh.tables" : "mesh.tables (%s:%u)", source->file,
		    source->line);
		source_file_refuse(source->path, fd, option, diag);
		return fd;
	}
	source->changed = changed(fd);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(files, source, fd, diag);
	if (source_file_check(source->path, fd, diag))
		return add_file(files, source, strdup(source->path), fd);
	(void)close(fd);
	return -EINVAL;
}

int
source_files_open(struct source_files *files, const struct mesh *mesh,
    struct diag *diag)
{
	size_t errors = diag->errors;
	int error = 0;

	files->mesh = *mesh;
	files->mesh.sources = NULL;
	files->mesh.source_count = 0;
	files->fds = NULL;
	for (size_t i = 0; i < mesh->source_count; i++) {
		int failed = add_source(files, &mesh->sources[i], diag);

		if (failed == -ENOMEM && diag->errors == errors)
			diag_add(diag, DIAG_ERROR, mesh->sources[i].path, 0,
			    "cannot be opened: %s", strerror(ENOMEM));
		if (error == 0)
			error = failed;
	}
	if (error != 0)
		source_files_close(files);
	return error;
}

void
source_files_close(struct source_files *files)
{
	struct mesh *mesh = &files->mesh;

	for (size_t i = 0; i < mesh->source_count; i++) {
		free(mesh->sources[i].path);
		if (files->fds[i] >= 0)
			(void)close(files->fds[i]);
	}
	free(mesh->sources);
	free(files->fds);
	mesh->sources = NULL;
	mesh->source_count = 0;
	files->fds = NULL;
}
