/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit files that are renamed when they are large or old enough, and removed
 * when there are too many: a packet log must not fill a disk.  PATH is renamed to
 * PATH.20261122-134001, in UTC, with a number behind it if there is one already.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_ROTATE_H
#define NFDNS_NFQ_SUPERVISOR_ROTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/config/config.h"

/* Whether the open file is to be renamed; "now" is in seconds since 1970. */
bool rotate_is_due(const struct config_audit *audit, int fd, int64_t now);

/*
 * Renames the file at audit->path.  0 and a name for messages, or a negative
 * errno: then it has its old name.
 */
int rotate_rename(const struct config_audit *audit, int64_t now,
    char *name, size_t size) __attribute__((warn_unused_result));

/* Removes the entry's oldest renamed files, above max_files.  Logs what fails. */
void rotate_remove_oldest(const struct config_audit *audit);

#endif
