/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a packet log in the format json, also of one that is still written. */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_LINES_H
#define NFDNS_NFQ_CLI_LOGS_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Octets of a line at most; a longer one is none of nfdns, and is cut. */
#define LOG_LINE_MAX	65536

struct log_lines {
	int fd;
	bool regular;			/* else standard input, or a pipe */
	bool skipping;			/* the rest of a line that was cut */
	uint64_t number;		/* of the last line, from 1 */
	size_t begin, end;		/* of what was read and not given out */
	char octets[LOG_LINE_MAX];
};

/*
 * Opens a regular file, or standard input ("-").  0 or a negative errno: -EINVAL: it
 * is another kind of file.
 */
int log_lines_open(struct log_lines *lines, const char *path)
    __attribute__((warn_unused_result));
void log_lines_close(struct log_lines *lines);

/*
 * The next line, without its end; *line lives until the next call.  Its length; -EAGAIN:
 * there is none (any more), or one that is not whole yet; or another negative errno.
 */
ssize_t log_lines_next(struct log_lines *lines, const char **line);

/* After -EAGAIN: whether octets behind the last line are no whole line. */
bool log_lines_is_cut(const struct log_lines *lines);

/*
 * After -EAGAIN: waits a fifth of a second for more, and goes on with another file that
 * has taken the path.  False: "out", which the caller writes to, has no reader.
 */
bool log_lines_wait(struct log_lines *lines, const char *path, int out);

#endif
