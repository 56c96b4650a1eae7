/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the running daemon: run_dir/control (nfq/process/request.h). */
#ifndef NFDNS_NFQ_CLI_DAEMON_ASK_H
#define NFDNS_NFQ_CLI_DAEMON_ASK_H

#include <stddef.h>
#include <sys/types.h>

#include "nfq/process/request.h"
#include "policy/status/status.h"
#include "resolver/text/json_write.h"

#define DAEMON_REACTS_MS 2000	/* then it is stopped, or hangs */

/* Owns the texts and the descriptors. */
struct daemon_answer {
	int code;			/* an exit code */
	char *out, *err;		/* end with NUL; never NULL after success */
	size_t out_length, err_length;
	int fds[REQUEST_FDS];		/* -1: not given */
	pid_t pid;			/* the daemon's; 0: none was reached */
};

/*
 * Sends a line, and waits for the answer: DAEMON_REACTS_MS for any, and "wait_ms" for
 * the end of one that takes longer.  0, whatever the answer says; or a negative
 * errno: -ENOENT or -ECONNREFUSED if no daemon is there; -ETIMEDOUT if it does not
 * react, -EINPROGRESS if it is still at it; -ECONNRESET if it has ended.
 */
int daemon_ask(struct daemon_answer *answer, const char *run_dir,
    const char *line, int wait_ms) __attribute__((warn_unused_result));
void daemon_answer_free(struct daemon_answer *answer);

/*
 * Says on standard error why there is no answer; "command" is what failed.  Returns
 * the exit code.
 */
int daemon_tell_error(const struct daemon_answer *answer, const char *command,
    const char *run_dir, int error);

/*
 * The descriptor that the request "table" or "cache" gives; or -1, with the exit code
 * in *exit_code, after a message.
 */
int daemon_open(const char *what, const char *run_dir, int *exit_code);

/*
 * A copy of the daemon's status page; the answer's second descriptor is the one for
 * hitters_watch(), for who may see them.  0; or a negative errno, as daemon_ask() and
 * status_open().  After an error there is neither page nor answer to free.
 */
int daemon_page(struct daemon_answer *answer, struct status_page *page,
    const char *run_dir) __attribute__((warn_unused_result));

/* Whether there is a daemon that could be asked. */
bool daemon_is_there(const char *run_dir);

/* Prints the answer, what is for errors as such.  Returns the exit code. */
int daemon_print(const struct daemon_answer *answer, const char *command);

/* The lines of an answer's text as an array. */
void daemon_write_lines(struct json_write *w, const char *key, const char *text);

/* Asks, and prints the answer.  Returns the exit code. */
int daemon_show(const char *command, const char *run_dir, const char *line,
    int wait_ms);

#endif
