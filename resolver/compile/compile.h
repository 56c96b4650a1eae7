/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiles a mesh's sources into a table image.  Needs no privilege: the caller
 * has opened all files that are read, and the one file that is written.
 *
 * This room joins the readers of all formats.  It opens no file and logs nothing:
 * errors go to a diag.
 */
#ifndef NFDNS_RESOLVER_COMPILE_COMPILE_H
#define NFDNS_RESOLVER_COMPILE_COMPILE_H

#include <stddef.h>

#include "resolver/text/diag.h"
#include "resolver/image/builder.h"
#include "resolver/image/mesh.h"

/*
 * Reads the open sources (-1: a feed's table that is not there) and writes the
 * image to image_fd; if none is there, that of a table never loaded.  Errors and warnings
 * go to diag; after an error the image is not usable.
 * Returns 0, -EINVAL if a source cannot be used, or another negative errno.
 */
int compile(const struct mesh *mesh, const int *sources, int image_fd,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * The same for a process that cannot open files: it gets included files from
 * *broker (source_file.h).  The image carries the policy's octets; NULL: none.
 */
int compile_confined(const struct mesh *mesh, const int *sources,
    const int *broker, const struct image_policy *policy, int image_fd,
    struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Writes the image that stands for the table until a first one has loaded: the
 * mesh's zones and search list, no names; table_is_loaded() is false.  The policy is as
 * with compile_confined().  0 or a
 * negative errno.
 */
int compile_unloaded(const struct mesh *mesh, const struct image_policy *policy,
    int image_fd)
    __attribute__((warn_unused_result));

/*
 * Finds CNAMEs that no answer may contain: loops, chains longer than
 * LOOKUP_MAX_CHAIN, several CNAMEs of one name, and a CNAME beside other data
 * (RFC 1034 section 3.6.2).
 */

/*
 * Checks the image that b has just written to image_fd, with the lookups that
 * answer questions, and drops faulty CNAMEs from b, with a warning in diag for
 * each.  Returns how many there were, or a negative errno.  If there were any,
 * the caller writes the image again.
 */
int cname_check_drop_faulty(struct builder *b, int image_fd, struct diag *diag)
    __attribute__((warn_unused_result));

#endif
