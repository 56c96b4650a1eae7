/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the audit files, which the worker writes. */
#ifndef NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H
#define NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H

#include "nfq/handover/generation_files.h"
#include "policy/config/config.h"
#include "resolver/text/diag.h"

/*
 * Opens config's audit files for appending and creates those that do not exist
 * (0640: the worker's group may read).  A file that cannot be opened at the
 * start, or whose directory is missing, is a warning in diag: what was open
 * goes on, or it stays -1, for audit_files_connect().  At a reload each other
 * one is an error; then none stays open.  A socket that nobody listens at stays
 * -1, too.  before: those that a worker has open, or NULL; their connections
 * are kept.  Other files are mended first, as by audit_files_mend().  The
 * caller closes them with audit_files_close().  0 or -EIO.
 */
int audit_files_open(struct audit_files *files, const struct config *config,
    const struct audit_files *before, struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Opens what is not open, and connects the sockets of files, which are those of
 * config, that are not connected or whose peer has gone.  *fresh becomes what
 * to send to the worker: only the new connections are in it, and it owns none.
 * How many.
 */
size_t audit_files_connect(struct audit_files *files,
    const struct config *config, struct audit_files *fresh);

/*
 * Checks the paths without creating a file.  A path that is not a regular file,
 * is an error in diag, and a directory that does not exist, and will not be
 * made, a warning.
 */
void audit_files_check(const struct config *config, struct diag *diag);

/* Whether a file is not open, or has its max_size; why, for people. */
bool audit_files_problem(const struct audit_files *files,
    const struct config *config, char *text, size_t size);

/*
 * Removes what a worker that was killed in the middle of a write left of its
 * last record, where that would make the records behind it unreadable.  No other
 * process writes the files.  Logs what it cannot mend; files above 1 GiB are
 * left as they are, since questions wait meanwhile.
 */
void audit_files_mend(const struct audit_files *files,
    const struct config *config);

#endif
