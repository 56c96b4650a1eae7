/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log that is read to its end, and then on, through its rotations. */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_FOLLOW_H
#define NFDNS_NFQ_CLI_LOGS_LOG_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/cli/logs/log_pieces.h"

struct log_follow {
	struct log_pieces pieces;	/* zeros until log_follow_begin() */
	struct log_octets *source;
	uint8_t *octets;
	int opener;			/* -1: the file is not followed */
	int next;			/* the file after a rotation; -1: none */
};

#define LOG_FOLLOW_INIT { .opener = -1, .next = -1 }

/*
 * Opens the file ("-": standard input) and, to follow it, starts the process that
 * opens those after it.  0 or a negative errno.  Reads nothing.
 */
int log_follow_open(struct log_follow *log, const char *path, bool follow)
    __attribute__((warn_unused_result));
void log_follow_close(struct log_follow *log);

/* Begins to read; octets: memory of LOG_PIECES_OCTETS, borrowed. */
void log_follow_begin(struct log_follow *log, uint8_t *octets);

/*
 * After LOG_END: waits for more, a fifth of a second at most; "out" is what the
 * caller writes to.  False: "out" has no reader any more.
 */
bool log_follow_wait(struct log_follow *log, int out);

#endif
