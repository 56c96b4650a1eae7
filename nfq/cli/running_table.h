/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running daemon answers from: its table, settings and cache. */
#ifndef NFDNS_NFQ_CLI_RUNNING_TABLE_H
#define NFDNS_NFQ_CLI_RUNNING_TABLE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the table image of the daemon whose directory is run_dir.  Returns an
 * fd that the caller closes; or -1, with the exit code in *exit_code, after a
 * message.
 */
int running_table_open(const char *run_dir, int *exit_code);

/* What running_files_open() opened; the caller closes both. */
struct running_files {
	int table, settings;
	uint64_t generation;
	pid_t pid;
};

/*
 * Table and settings of one generation, without a message: 0, or a negative
 * errno; -EACCES or -EPERM: only root may, -ENOENT or -ESRCH: no daemon runs.
 */
int running_files_open(const char *run_dir, struct running_files *files)
    __attribute__((warn_unused_result));

/* As running_table_open(), for the memory of its cache (nfq/cache/cache_memory.h). */
int running_cache_open(const char *run_dir, int *exit_code);

#endif
