/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A generation as the supervisor holds it: everything that the worker answers
 * from and that a reload may change, as open files.  The start and a reload
 * build it in the same way; a worker gets it at fork, or from a reload over the
 * control channel.
 */
#ifndef NFDNS_NFQ_HANDOVER_GENERATION_FILES_H
#define NFDNS_NFQ_HANDOVER_GENERATION_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "nfq/handover/control.h"
#include "policy/audit/audit.h"

/*
 * Files that records are written to; owned.  A descriptor of -1 is a socket that
 * is not connected; in a CONTROL_AUDIT_FILES, one that stays as it is.
 */
struct audit_files {
	struct audit_file files[AUDIT_MAX_FILES];
	size_t count;
};

/* Owns its files. */
struct generation_files {
	uint64_t number;		/* 0: no table was ever loaded */
	int image;			/* sealed memory file: the table; -1: none */
	int settings;			/* sealed memory file; -1: none; in a
					   reload of tables: all but the image
					   stays as it is */
	int cache;			/* forward/cache_memory.h; -1: none */
	int authorities;		/* PEM text for nfdns-tls; -1: none.  Not
					   sent to the worker */
	struct audit_files audit;
};

#define GENERATION_FILES_INIT \
	{ .image = -1, .settings = -1, .cache = -1, .authorities = -1 }

/* Closes what is open; none is, afterwards. */
void audit_files_close(struct audit_files *files);
void generation_files_close(struct generation_files *generation);

/*
 * Sends all of it as CONTROL_GENERATION, or the image as CONTROL_TABLE if there are
 * no settings.  As control_send().
 */
int generation_files_send(int socket, const struct generation_files *generation)
    __attribute__((warn_unused_result));

/* Sends fresh audit files for the generation in use: CONTROL_AUDIT_FILES. */
int audit_files_send(int socket, const struct audit_files *files)
    __attribute__((warn_unused_result));

/*
 * Takes a generation out of one of these that control_receive() gave.
 * 0, and generation owns fds; or -EPROTO if files are missing, are too many or
 * have sinks that make no sense: all fds are closed, and nothing changes.
 */
int generation_files_take(struct generation_files *generation,
    const struct control_message *message, const int *fds)
    __attribute__((warn_unused_result));

/* The same for a CONTROL_AUDIT_FILES. */
int audit_files_take(struct audit_files *files,
    const struct control_message *message, const int *fds)
    __attribute__((warn_unused_result));

#endif
