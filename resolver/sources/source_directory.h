/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a directory that a table comes from. */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_DIRECTORY_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_DIRECTORY_H

#include <stddef.h>

#include "resolver/text/diag.h"

/* With more files a directory is refused: each is open at the same time. */
#define SOURCE_DIRECTORY_MAX	512

/* Open files in the order of their names' octets. */
struct source_directory {
	struct source_directory_file {
		char *path;
		int fd;
	} *files;
	size_t count;
};

/*
 * Opens the files of the directory that is open as fd, which is closed, and at
 * path.  Names that begin with '.' or end in '~' are passed over; with an
 * ending, names without it are left out with a warning, and so are the
 * directories in it.  If there are no files, that is a warning too.
 *
 * 0, or a negative errno with errors in diag.
 */
int source_directory_open(struct source_directory *directory, int fd,
    const char *path, const char *ending, struct diag *diag)
    __attribute__((warn_unused_result));

/* Frees what is left in it: a path or fd that was taken over is NULL or -1. */
void source_directory_close(struct source_directory *directory);

#endif
