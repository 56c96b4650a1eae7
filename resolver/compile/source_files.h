/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All the files that a mesh's tables come from, open.  Where the configuration
 * names a directory, there is a source for each of its files, with the options
 * of that one: who reads sources never sees a directory.
 */
#ifndef NFDNS_RESOLVER_COMPILE_SOURCE_FILES_H
#define NFDNS_RESOLVER_COMPILE_SOURCE_FILES_H

#include "resolver/text/diag.h"
#include "resolver/image/mesh.h"

struct source_files {
	struct mesh mesh;	/* the one that was given but for its sources */
	int *fds;		/* mesh.source_count of them */
};

/*
 * Opens every source of mesh for reading, without blocking on a fifo; each
 * failure is an error in diag (absent, a device or fifo, too large, a directory
 * where there cannot be one, errno in words).  What the mesh owns is borrowed.
 *
 * In each source of mesh, "changed" becomes the time of what was opened.
 * Returns 0, or a negative errno when any failed; then nothing is open.
 */
int source_files_open(struct source_files *files, const struct mesh *mesh,
    struct diag *diag) __attribute__((warn_unused_result));

/* Of all-zero memory, and a second time, it does nothing. */
void source_files_close(struct source_files *files);

#endif
