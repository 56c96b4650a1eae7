/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a log has all its records.  They are numbered from 1 on for each worker,
 * and those that were lost have numbers, too, and a line that says so.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_VERIFY_H
#define NFDNS_NFQ_CLI_LOGS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_tree;

enum log_line_kind {
	LOG_FOREIGN,			/* no line of nfdns */
	LOG_RECORD,
	LOG_BEGIN,			/* a file was opened */
	LOG_LOST,
	LOG_UNREAD,
	LOG_END,			/* and closed */
};

struct log_line {
	enum log_line_kind kind;
	uint64_t run;			/* of the worker; not of RECORD */
	uint64_t number;		/* of RECORD; of the next: BEGIN, END */
	uint64_t count;			/* records lost, questions unread */
};

void log_line_read(struct log_line *line, struct json_tree *tree,
    const char *text, size_t length);

/* Starts with zeros. */
struct log_verify {
	uint64_t run;			/* 0: none has begun */
	bool ended;			/* by its last line so far */
	uint64_t next;			/* number that comes next */
	uint64_t gap, from, to;		/* numbers that did not come */
	uint64_t told;			/* of these, by lines that say so */
	uint64_t records, lost, unread;	/* of all runs */
};

enum log_finding {
	LOG_FINE,
	LOG_REPEATED,			/* it was there before, or comes too late */
	LOG_IS_FOREIGN,
};

/* What is wrong with the next line. */
enum log_finding log_verify_line(struct log_verify *verify,
    const struct log_line *line);

/*
 * Whether the line begins another run, before log_verify_line(); or all lines are over
 * ("line" NULL).  Then gap - told records are missing from the run, somewhere between
 * "from" and "to"; and, unless it has ended, any behind its last line.
 */
bool log_verify_is_over(const struct log_verify *verify,
    const struct log_line *line);

#endif
