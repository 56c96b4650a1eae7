/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a mesh's sources to a table image.  Pure in the sense of the process:
 * everything it reads was opened by the caller (source_files.h), all it writes
 * is one file, so it can run without any privilege.
 */
#ifndef NFDNS_RESOLVER_COMPILE_COMPILE_H
#define NFDNS_RESOLVER_COMPILE_COMPILE_H

#include <stddef.h>

#include "resolver/text/diag.h"
#include "resolver/image/mesh.h"

/*
 * Reads the open sources and writes the image to fd.  Errors and warnings go
 * to diag; with any error no usable image is written.
 * Returns 0, -EINVAL when a source cannot be used, or another negative errno.
 */
int compile(const struct mesh *mesh, const int *sources, int image_fd,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * The same for who may open no files: those that sources include are asked
 * for at *broker (include.h).  compile_prepare() opens what libraries read
 * once, so it comes before the files are forbidden.
 */
void compile_prepare(void);
int compile_confined(const struct mesh *mesh, const int *sources,
    const int *broker, int image_fd, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * The image of a table that was never loaded: mesh's settings, no names, and
 * the mark by which the "unloaded" behaviour is chosen.
 */
int compile_unloaded(const struct mesh *mesh, int image_fd)
    __attribute__((warn_unused_result));

#endif
