/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This room reads packet logs back.  They may have been changed by anybody who
 * may write them.
 */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_TEXT_H
#define NFDNS_NFQ_CLI_LOGS_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/decide.h"
#include "resolver/text/json_tree.h"

/* The lines of a packet log in the format json, also of one that is still written. */

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

/*
 * A record of a packet log.  Its texts are those of the tree that read it, until that
 * reads the next line.
 */
struct log_entry {
	uint64_t time_ns;		/* since 1970 */
	const char *verdict;		/* "answer" */
	const char *client;		/* an address; NULL: not told */
	const char *interface;		/* by which a container's came; NULL: none */
	uid_t uid;			/* (uid_t)-1: not known */
	const char *type;		/* NULL: there is no question */
	const char *name;
	const char *reason;
	const char *rcode;		/* NULL: NOERROR, or what the verdict says */
	const char *rule;		/* NULL: none */
	const char *judged;		/* the name that it denies, if that is not
					 * the one asked; NULL: it is */
	const char *observed;		/* a rule that only observes; NULL: none */
	const char *would;		/* what it would have done */
	bool stream, truncated;
	const json_t *answers;		/* NULL: none */
};

/*
 * Reads a line of the format json.  False: it is no record of a question (a note,
 * another event, no JSON).
 */
bool log_entry_read(struct log_entry *entry, struct json_tree *tree,
    const char *text, size_t length);

/*
 * Prints the entry as one line for people: when (TZ), what was decided, who asked for
 * what, what was answered, and why:
 *
 *   2026-11-22 13:40:01.123 answer   10.0.0.5 uid 33 A     shop.example. 10.1.2.3
 *   (record)
 *
 * Texts become as printable_text() writes them; colour: the verdict has one
 * (ECMA-48).
 */
void log_entry_print(const struct log_entry *entry, bool colour, FILE *out);

/* Which records "nfdns log" shows. */

/* All that are set must hold; borrows its texts. */
struct log_filter {
	const char *name;		/* NULL: any */
	const char *rule;
	const char *verdict;
	bool has_user;
	uid_t user;
	uint64_t since_ns;		/* 0: from the beginning */
};

/* By fnmatch(3): letters have no case, and the final dot may be left out. */
bool log_filter_name(const char *pattern, const char *name);

bool log_filter_takes(const struct log_filter *filter,
    const struct log_entry *entry);

/*
 * A moment: "10s", "5m", "2h", "3d" before now, "HH:MM[:SS]" today, or
 * "YYYY-MM-DD[ HH:MM[:SS]]", local time.  False: it is none of these.
 */
bool log_filter_since(uint64_t *since_ns, const char *text, int64_t now);

#endif
