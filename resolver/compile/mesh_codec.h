/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mesh as the octets of a file, for another process of the very same program:
 * who compiles shares no memory with who read the configuration.
 */
#ifndef NFDNS_RESOLVER_COMPILE_MESH_CODEC_H
#define NFDNS_RESOLVER_COMPILE_MESH_CODEC_H

#include <stdio.h>

#include "resolver/image/mesh.h"

/* 0, or a negative errno of writing. */
int mesh_codec_write(const struct mesh *mesh, FILE *file)
    __attribute__((warn_unused_result));

/*
 * What mesh_codec_write() wrote, from where the file stands; mesh_clear() frees
 * it. 0; -EPROTO for what another build of the program wrote, or what ends
 * early; -ENOMEM.  Then *mesh is empty.
 */
int mesh_codec_read(struct mesh *mesh, FILE *file)
    __attribute__((warn_unused_result));

#endif
