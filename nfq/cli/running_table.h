/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running daemon answers from: its table, and its cache. */
#ifndef NFDNS_NFQ_CLI_RUNNING_TABLE_H
#define NFDNS_NFQ_CLI_RUNNING_TABLE_H

/*
 * Opens the table image of the daemon whose directory is run_dir.  Returns an
 * fd that the caller closes; or -1, with the exit code in *exit_code, after a
 * message.
 */
int running_table_open(const char *run_dir, int *exit_code);

/* The same for the memory of its cache (nfq/forward/cache_memory.h). */
int running_cache_open(const char *run_dir, int *exit_code);

#endif
