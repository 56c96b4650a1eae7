/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a table: opening, checking and reading them. */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_FILE_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/diag.h"

/* The largest file that is accepted, in octets. */
#define SOURCE_FILE_MAX ((size_t)1000 << 20)

/*
 * Opens the file for reading, without blocking on a fifo; "directory" as with
 * openat(2).  Returns an fd that the caller closes, or a negative errno.
 * source_file_refuse() turns that errno into an error in diag; "option" is the
 * one that names the file.
 */
int source_file_open(int directory, const char *path)
    __attribute__((warn_unused_result));
void source_file_refuse(const char *path, int error, const char *option,
    struct diag *diag);

/* Whether fd is a regular file of allowed size; if not, adds an error. */
bool source_file_check(const char *path, int fd, struct diag *diag);

/*
 * Reads the whole file into memory that the caller frees.  It is not mapped,
 * since truncating a mapped file would kill this process.  A byte order mark
 * before the text is left out.  Returns NULL, and an error in diag, on failure.
 */
char *source_file_read(const char *path, int fd, size_t *length,
    struct diag *diag) __attribute__((warn_unused_result));

/* The files of a directory that a table comes from. */

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

/*
 * Files that a source includes ($INCLUDE of zone files).  The compiler process
 * has no privilege to open them.  It asks its parent, the broker, which opened
 * the source.  The broker looks only at the file's name, and opens only files
 * beneath the directory of that source.
 */

/* Most files that one compilation may include. */
#define INCLUDE_MAX_FILES	100
/* Longest name, in octets. */
#define INCLUDE_MAX_NAME	512
/* Longest request, in octets. */
#define INCLUDE_REQUEST_MAX	(INCLUDE_MAX_NAME + 32)

/*
 * Opens name for reading, without blocking on a fifo.  name is relative to the
 * directory of the file at source_path, or an absolute path below it.  Symbolic
 * links are followed as long as they stay beneath it (openat2(2)).  Returns an
 * fd, or a negative errno: -EXDEV for a file elsewhere.
 */
int include_open(const char *source_path, const char *name)
    __attribute__((warn_unused_result));

/*
 * The same through the broker, the other end of a SOCK_SEQPACKET socket.  The
 * request is one line "I NUMBER NAME" with the number of the source; the answer
 * is an errno and the open file.
 */
int include_ask(int broker, unsigned int source, const char *name)
    __attribute__((warn_unused_result));

/*
 * The broker's side: opens the file and answers through broker.  Returns 0, or
 * a negative errno if the answer cannot be sent.
 */
int include_serve(int broker, const char *source_path, const char *name)
    __attribute__((warn_unused_result));

#endif
