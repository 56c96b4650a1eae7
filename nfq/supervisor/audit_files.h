/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the audit files, which the worker writes. */
#ifndef NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H
#define NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H

#include "nfq/handover/generation_files.h"
#include "policy/config/config.h"
#include "resolver/text/diag.h"

/*
 * Opens config's audit files for appending and creates those that do not exist
 * (0640: the worker's group may read).  Each file that cannot be opened is an
 * error in diag; then none stays open.  A socket that nobody listens at is none:
 * it stays -1, for audit_files_connect().  before: those that a worker has open,
 * or NULL; their connections are kept.  Other files are mended first, as by
 * audit_files_mend().  The caller closes them with audit_files_close().  0 or
 * -EIO.
 */
int audit_files_open(struct audit_files *files, const struct config *config,
    const struct audit_files *before, struct diag *diag)
    __attribute__((warn_unused_result));

/* The file of one entry that has a path: a descriptor or a negative errno. */
int audit_files_open_one(const struct config_audit *audit)
    __attribute__((warn_unused_result));

/*
 * Connects the sockets of files, which are those of config, that are not
 * connected or whose peer has gone.  *fresh becomes what to send to the worker:
 * only the new connections are in it, and it owns none.  How many.
 */
size_t audit_files_connect(struct audit_files *files,
    const struct config *config, struct audit_files *fresh);

/*
 * Checks the paths without creating a file.  A path that is not a regular file,
 * or whose directory does not exist, is an error in diag, as in
 * audit_files_open().
 */
void audit_files_check(const struct config *config, struct diag *diag);

/*
 * Removes what a worker that was killed in the middle of a write left of its
 * last record, where that would make the records behind it unreadable.  No other
 * process writes the files.  Logs what it cannot mend; files above 1 GiB are
 * left as they are, since questions wait meanwhile.
 */
void audit_files_mend(const struct audit_files *files,
    const struct config *config);

#endif
