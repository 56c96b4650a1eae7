/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables that a feed keeps (resolver/sources/feed_file.h) as sources: the
 * header says which format the table behind it has.
 */
#ifndef NFDNS_RESOLVER_COMPILE_FEED_TABLE_H
#define NFDNS_RESOLVER_COMPILE_FEED_TABLE_H

#include <stdbool.h>

#include "resolver/image/mesh.h"
#include "resolver/sources/source_format.h"
#include "resolver/text/diag.h"

/*
 * Opens the file at source->path, which another user may have put there: no
 * link is followed.  Sets source->confirmed.  An fd; -ENOENT with a warning in
 * diag; or another negative errno with an error in diag.
 */
int feed_table_open(struct mesh_source *source, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * A copy of mesh in which each feed's table has the format that its open file
 * says, for feed_table_formats_free(); it borrows everything.  A file that says
 * none is an error in diag.  0 and *copy, or a negative errno.
 */
int feed_table_formats(struct mesh **copy, const struct mesh *mesh,
    const int *fds, struct diag *diag) __attribute__((warn_unused_result));
void feed_table_formats_free(struct mesh *copy);

/*
 * Takes the header off a whole file: text is the table behind it then.  False,
 * with an error in diag, if the file is damaged.
 */
bool feed_table_enter(struct source_text *text, struct diag *diag)
    __attribute__((warn_unused_result));

#endif
