/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mesh as the octets of a file, for another process of the same program: the
 * process that compiles shares no memory with the one that reads the
 * configuration.
 */
#ifndef NFDNS_RESOLVER_COMPILE_MESH_CODEC_H
#define NFDNS_RESOLVER_COMPILE_MESH_CODEC_H

#include <stdio.h>

#include "resolver/image/mesh.h"

/* 0, or a negative errno of writing. */
int mesh_codec_write(const struct mesh *mesh, FILE *file)
    __attribute__((warn_unused_result));

/*
 * Reads what mesh_codec_write() wrote, from the file's position on; the caller
 * frees *mesh with mesh_clear().  Returns 0; -EPROTO if another build of the
 * program wrote the file or the file ends early; -ENOMEM.  After an error,
 * *mesh is empty.
 */
int mesh_codec_read(struct mesh *mesh, FILE *file)
    __attribute__((warn_unused_result));

#endif
