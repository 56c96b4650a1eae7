/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a directory that a table comes from. */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_DIRECTORY_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_DIRECTORY_H

#include <stddef.h>

#include "resolver/text/diag.h"

/* Most files in a directory; all are open at the same time. */
#define SOURCE_DIRECTORY_MAX	512

/* Open files, sorted by the octets of their names. */
struct source_directory {
	struct source_directory_file {
		char *path;
		int fd;
	} *files;
	size_t count;
};

/*
 * Opens the files of a directory: fd is the open directory, which is always
 * closed, path its name.  Names that begin with '.' or end in '~' are skipped.
 * Names without the ending, and directories, are ignored with a warning.  A
 * directory without files is a warning, too.
 *
 * Returns 0, or a negative errno with errors in diag.
 */
int source_directory_open(struct source_directory *directory, int fd,
    const char *path, const char *ending, struct diag *diag)
    __attribute__((warn_unused_result));

/* Closes and frees all; skips a path of NULL and an fd of -1. */
void source_directory_close(struct source_directory *directory);

#endif
