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
 * since truncating a mapped file would kill this process.  Returns NULL, and an
 * error in diag, on failure.
 */
char *source_file_read(const char *path, int fd, size_t *length,
    struct diag *diag) __attribute__((warn_unused_result));

#endif
