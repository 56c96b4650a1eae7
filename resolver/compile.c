/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/builder.h"
#include "resolver/source.h"

/* What else than a file may stand at a path. */
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

/* Complains about what cannot be a source. */
static bool
check_file(const struct mesh_source *source, int fd, struct diag *diag)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		diag_add(diag, DIAG_ERROR, source->path, 0,
		    "cannot be looked at: %s", strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		diag_add(diag, DIAG_ERROR, source->path, 0, "%s",
		    kind_of(st.st_mode));
		return false;
	}
	if ((uint64_t)st.st_size > COMPILE_MAX_SOURCE) {
		diag_add(diag, DIAG_ERROR, source->path, 0, "has %llu MiB, the"
		    " limit is %zu MiB: split it into several tables",
		    (unsigned long long)st.st_size >> 20,
		    COMPILE_MAX_SOURCE >> 20);
		return false;
	}
	return true;
}

static int
open_source(const struct mesh_source *source, struct diag *diag)
{
	int fd = open(source->path,
	    O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		diag_add(diag, DIAG_ERROR, source->path, 0,
		    "cannot be opened: %s%s", strerror(errno),
		    errno == ENOENT ? ": write it or take it out of"
		    " mesh.tables" : "");
		return -1;
	}
	if (check_file(source, fd, diag))
		return fd;
	(void)close(fd);
	return -1;
}

int
compile_open(const struct mesh *mesh, int *fds, struct diag *diag)
{
	int error = 0;

	/* jansson reads a random seed once: now, as compile() may no more. */
	json_object_seed(0);
	for (size_t i = 0; i < mesh->source_count; i++) {
		fds[i] = open_source(&mesh->sources[i], diag);
		if (fds[i] < 0)
			error = -EIO;
	}
	return error;
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

/*
 * The whole file in memory to be freed.  It is read, not mapped: who shortens
 * a mapped file kills its reader.  NULL, and an error in diag, on failure.
 */
static char *
read_source(const struct mesh_source *source, int fd, size_t *length,
    struct diag *diag)
{
	char *data = NULL;
	struct stat st;
	ssize_t got;

	if (!check_file(source, fd, diag) || fstat(fd, &st) != 0)
		return NULL;
	/* One more, to see a file that grows under our hands. */
	data = malloc((size_t)st.st_size + 1);
	if (data == NULL) {
		diag_add(diag, DIAG_ERROR, source->path, 0, "no memory for its"
		    " %lld octets", (long long)st.st_size);
		return NULL;
	}
	got = read_up_to(fd, data, (size_t)st.st_size + 1);
	if (got == (ssize_t)st.st_size) {
		*length = (size_t)got;
		return data;
	}
	if (got < 0)
		diag_add(diag, DIAG_ERROR, source->path, 0,
		    "cannot be read: %s", strerror((int)-got));
	else
		diag_add(diag, DIAG_ERROR, source->path, 0, "changed while it"
		    " was read: write to another file and rename that");
	free(data);
	return NULL;
}

static void
report_shadowed(const struct builder *b, const struct mesh_source *source,
    struct diag *diag)
{
	char text[NAME_TEXT_SIZE];
	struct dns_name first;
	size_t count = builder_shadowed(b, &first);

	if (count > 0)
		diag_add(diag, DIAG_WARNING, source->path, 0, "%zu name%s also"
		    " in an earlier table and left out here; the first is %s",
		    count, count == 1 ? " is" : "s are",
		    name_to_text(first.octets, text));
}

/* 0 even if diag got errors, so that all sources are looked at. */
static int
add_source(const struct mesh *mesh, size_t i, int fd, struct builder *b,
    struct diag *diag)
{
	const struct mesh_source *source = &mesh->sources[i];
	struct source_text text = {
		.path = source->path,
		.mesh = mesh,
		.source = source,
	};
	char *data = read_source(source, fd, &text.length, diag);
	int error;

	if (data == NULL)
		return 0;
	text.data = data;
	builder_source(b, (unsigned int)i);
	error = source->format->read(&text, b, diag);
	free(data);
	if (error == 0)
		report_shadowed(b, source, diag);
	else
		diag_add(diag, DIAG_ERROR, source->path, 0, "%s",
		    error == -E2BIG ? "the table would pass 4 GiB: leave names"
		    " out" : error == -ENOMEM ? "not enough memory for its"
		    " names" : strerror(-error));
	return error;
}

int
compile(const struct mesh *mesh, const int *sources, int image_fd,
    struct diag *diag)
{
	struct builder *b = builder_new(mesh);
	size_t errors = diag->errors;
	int error = 0;

	if (b == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < mesh->source_count && error == 0; i++)
		error = add_source(mesh, i, sources[i], b, diag);
	if (error == 0 && diag->errors > errors)
		error = -EINVAL;
	if (error == 0) {
		error = builder_write(b, image_fd);
		if (error != 0)
			diag_add(diag, DIAG_ERROR, NULL, 0,
			    "cannot write the table image: %s",
			    strerror(-error));
	}
	builder_free(b);
	return error;
}

int
compile_unloaded(const struct mesh *mesh, int image_fd)
{
	struct builder *b = builder_new(mesh);
	int error;

	if (b == NULL)
		return -ENOMEM;
	builder_set_unloaded(b);
	error = builder_write(b, image_fd);
	builder_free(b);
	return error;
}
