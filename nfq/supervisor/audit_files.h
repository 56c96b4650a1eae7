/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit's files as the supervisor holds them: opened here, written there. */
#ifndef NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H
#define NFDNS_NFQ_SUPERVISOR_AUDIT_FILES_H

#include "policy/audit/audit.h"
#include "policy/config/config.h"
#include "resolver/text/diag.h"

/* Owns the files. */
struct audit_files {
	struct audit_file files[AUDIT_MAX_FILES];
	size_t count;
};

/*
 * Opens the files of config's audits for appending, making those that are not
 * there (0640, the worker's group may read).  Every one that cannot be had is
 * an error in diag; then none is open.  0 or -EIO.
 */
int audit_files_open(struct audit_files *files, const struct config *config,
    struct diag *diag) __attribute__((warn_unused_result));

/*
 * What can be told without making a file: each path that is no regular file,
 * or whose directory is not there, is an error in diag, as audit_files_open()
 * has it.
 */
void audit_files_check(const struct config *config, struct diag *diag);

void audit_files_close(struct audit_files *files);

#endif
