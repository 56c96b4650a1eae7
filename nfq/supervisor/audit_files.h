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
 * error in diag; then none stays open.  The caller closes them with
 * audit_files_close().  0 or -EIO.
 */
int audit_files_open(struct audit_files *files, const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));

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
void audit_files_mend(const struct audit_files *files);

#endif
