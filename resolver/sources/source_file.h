/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a table comes from: what may be one, and all of its octets. */
#ifndef NFDNS_RESOLVER_SOURCES_SOURCE_FILE_H
#define NFDNS_RESOLVER_SOURCES_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "resolver/text/diag.h"

/* Above this a file is refused: split it.  Octets. */
#define SOURCE_FILE_MAX ((size_t)1000 << 20)

/*
 * Opens the file for reading, without waiting for a fifo; "directory" as with
 * openat(2).  An fd, or a negative errno for source_file_refuse(), which says
 * in diag what is wrong.
 */
int source_file_open(int directory, const char *path)
    __attribute__((warn_unused_result));
void source_file_refuse(const char *path, int error, struct diag *diag);

/* Whether it is a regular file of a fitting size; if not, an error in diag. */
bool source_file_check(const char *path, int fd, struct diag *diag);

/*
 * The whole file in memory to be freed.  It is read, not mapped: who shortens
 * a mapped file kills its reader.  NULL, and an error in diag, on failure.
 */
char *source_file_read(const char *path, int fd, size_t *length,
    struct diag *diag) __attribute__((warn_unused_result));

#endif
