/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that opens what comes under a log's name after a rotation.  It
 * reads nothing, so that the process that reads can have given up every right.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_OPENER_H
#define NFDNS_NFQ_CLI_LOGS_LOG_OPENER_H

/*
 * Starts it; "open" is the file that path names now.  It ends when the socket is
 * closed that is returned, or this process ends.  A negative errno if it cannot
 * start.  Call it while no other thread runs.
 */
int log_opener_start(const char *path, int open)
    __attribute__((warn_unused_result));

/*
 * The next file, which is not empty: all that is written to the one before is in
 * it by then.  -EAGAIN: there is none yet.
 */
int log_opener_take(int socket) __attribute__((warn_unused_result));

#endif
