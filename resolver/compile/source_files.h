/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens all files of a mesh's tables.  A directory becomes one source for each
 * of its files, with the options of the directory; readers of sources never see
 * a directory.
 */
#ifndef NFDNS_RESOLVER_COMPILE_SOURCE_FILES_H
#define NFDNS_RESOLVER_COMPILE_SOURCE_FILES_H

#include "resolver/text/diag.h"
#include "resolver/image/mesh.h"
#include "resolver/sources/source_format.h"

struct source_files {
	struct mesh mesh;	/* a copy, with sources of its own */
	int *fds;		/* mesh.source_count of them; -1: a feed's table
				   that is not there yet, or is left out */
};

/*
 * Opens every source of mesh for reading, without blocking on a fifo.  Each
 * failure is an error in diag: absent, a device or fifo, too large, a directory
 * that the format does not allow, or errno in words.  Borrows what mesh owns.
 *
 * Sets "changed" in each source of mesh to the time of the opened file.
 * Returns 0, or a negative errno if any failed; then nothing is open.
 */
int source_files_open(struct source_files *files, const struct mesh *mesh,
    struct diag *diag) __attribute__((warn_unused_result));

/* Closes and frees all.  Does nothing for zeros or a second time. */
void source_files_close(struct source_files *files);

/*
 * The table of all formats that a mesh table can come from.  A new format is
 * a reader in resolver/sources and one row in feed_table.c.
 */

/* The format of that name, a static value; NULL if there is none. */
const struct source_format *formats_find(const char *name);

/* The names of all formats, for messages: "nds, hosts".  A static text. */
const char *formats_names(void);

#endif
