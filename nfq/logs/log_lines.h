/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a log, also of one that is still written, or compressed (gzip). */
#ifndef NFDNS_NFQ_LOGS_LOG_LINES_H
#define NFDNS_NFQ_LOGS_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Octets of a line at most: no line of the audit is longer. */
#define LOG_LINE_MAX	((size_t)64 * 1024)

struct log_lines;

/* "-" is standard input.  NULL, and errno. */
struct log_lines *log_lines_open(const char *path)
    __attribute__((warn_unused_result));
void log_lines_close(struct log_lines *lines);	/* NULL is allowed */

enum log_next {
	LOG_LINE,			/* *text, of *length octets, no line end */
	LOG_LINE_LONG,			/* one that is too long was left out */
	LOG_WAIT,			/* no whole line is there (any more) */
	LOG_BROKEN,			/* the compressed file is damaged */
};

/* The text is valid until the next call. */
enum log_next log_lines_next(struct log_lines *lines, const char **text,
    size_t *length);

/* Octets behind the last line end: a line that is being written. */
size_t log_lines_rest(const struct log_lines *lines);

/*
 * After LOG_WAIT: whether there is another file under the path now, as after a
 * rotation; it is read from its beginning on then.
 */
bool log_lines_follow(struct log_lines *lines);

#endif
