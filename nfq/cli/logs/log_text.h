/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record as one line that a person reads: when, who, what was asked, what was
 * decided and what was answered, for example
 *
 *   2026-11-22 13:40:01.123 answer 10.0.0.5 uid 33 A shop.example. 10.1.2.3
 *   (record)
 *
 * in one line; the time is local (TZ).  What is not printable ASCII is written as
 * printable_text() does.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_TEXT_H
#define NFDNS_NFQ_CLI_LOGS_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/audit/audit.h"

/* Octets of a line at most; the answers that do not fit are counted. */
#define AUDIT_TEXT_MAX 5120

/* What a line is made of.  Borrows all of it. */
struct audit_line {
	uint64_t time_ns;		/* since 1970 */
	const char *verdict;		/* "answer" */
	const char *client;		/* an address */
	const char *interface;		/* by which a container's came; NULL: none */
	uid_t uid;			/* (uid_t)-1: not known */
	const char *type;		/* NULL: there is no question */
	const char *name;		/* with the final dot */
	const char *reason;
	const char *rcode;		/* NULL: NOERROR, or what the verdict says */
	const char *rule;		/* NULL: none */
	const char *judged;		/* the name that it denies, if that is not
					 * the one asked; NULL: it is */
	const char *observed;		/* a rule that only observes; NULL: none */
	const char *would;		/* what it would have done */
	bool stream;
	bool truncated;
};

/*
 * Writes the line, without a line end and NUL-terminated; answers are put by
 * audit_line_answer() between its begin and end.  colour: the verdict has an ECMA-48
 * colour.
 */
struct audit_line_out {
	char *pos, *end;		/* of the line; NUL at pos */
	unsigned int answers;		/* put so far, */
	unsigned int omitted;		/* and without room */
};

void audit_line_begin(struct audit_line_out *out,
    const struct audit_line *line, bool colour,
    char text[static AUDIT_TEXT_MAX]);
void audit_line_answer(struct audit_line_out *out, const char *text);
void audit_line_end(struct audit_line_out *out, const struct audit_line *line);

#endif
