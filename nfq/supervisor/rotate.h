/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit files that are renamed when they are large or old enough, and what
 * becomes of them: compressed, and removed when there are too many.  PATH is
 * renamed to PATH.20261122-134001, in UTC, with a number behind it if there is
 * one already; compressed it has ".gz" behind all that.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_ROTATE_H
#define NFDNS_NFQ_SUPERVISOR_ROTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/config/config.h"

/* The work on closed files; starts with zeros. */
struct rotate_work {
	pid_t packer;			/* 0: none */
	char *packed;			/* its input */
	const char *suffix;		/* of what it makes */
	uint32_t told;			/* entries whose renaming fails: it is logged */
	bool failed;			/* logged; until the next renaming */
};

/* Whether the open file is to be renamed; "now" is in seconds since 1970. */
bool rotate_is_due(const struct config_audit *audit, int fd, int64_t now);

/*
 * Renames the file at audit->path.  0 and a name for messages, or a negative
 * errno: then it has its old name.
 */
int rotate_rename(const struct config_audit *audit, int64_t now,
    char *name, size_t size) __attribute__((warn_unused_result));

/*
 * Goes on with the work on the closed files of all entries, without waiting:
 * starts a process for the next file that no process writes any more, or takes
 * what it has done.  Logs what fails.
 */
void rotate_go_on(struct rotate_work *work, const struct config *config);

/* Ends the process; what it did is begun anew by the next supervisor. */
void rotate_stop(struct rotate_work *work);

#endif
