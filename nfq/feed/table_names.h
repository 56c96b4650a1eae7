/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a table that a feed received, as far as they must be known to
 * keep it: how many there are, and what differs between two tables.  Of
 * Kubernetes objects, an object's kind, namespace and name count as its name.
 *
 * Eight octets a name, and nothing of the table: a table takes its memory once.
 */
#ifndef NFDNS_NFQ_FEED_TABLE_NAMES_H
#define NFDNS_NFQ_FEED_TABLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "resolver/feed/json_split.h"
#include "resolver/text/json_tree.h"

/*
 * Of each name TABLE_NAMES_KEY bits of its hash (XXH3), and below them bits of the
 * hash of what the table says of it.  Among four million names, one table in thirty
 * has two that are taken for one; of 65,536 changes one is not seen.
 */
#define TABLE_NAMES_KEY	48

/* All zero: there are none, as in a table of no format. */
struct table_names {
	char format;			/* 0; 'n': nds-proto; 'k': kubernetes */
	uint64_t *names;		/* sorted, each key once */
	size_t count;
	size_t faulty;			/* entries that cannot be used and are ignored */
};

struct table_delta {
	size_t added, removed, changed;
};

/* A table while it is read, in pieces. */
struct table_reader {
	struct table_names names;	/* not sorted yet */
	size_t room, most;		/* of names */
	bool counts_only;
	uint64_t at;			/* octets that are read */
	struct json_split split;
	struct json_tree tree;
	char *why;			/* the caller's, for -EBADMSG */
	size_t why_size;
};

/*
 * Begins a table of that format with at most so many names.  "why" is a line after
 * -EBADMSG.  table_reader_end() is to follow, also after an error of this function.
 */
int table_reader_begin(struct table_reader *r, const char *format, size_t most,
    char *why, size_t why_size) __attribute__((warn_unused_result));

/*
 * The next octets.  *used is how many were: the rest is of an entry that is cut off,
 * and to be given again with more.  0; -EBADMSG if they are no such table; -ENOMEM.
 */
int table_reader_take(struct table_reader *r, const void *octets,
    size_t length, size_t *used) __attribute__((warn_unused_result));

/*
 * All is read, with that outcome; "rest" octets were not used.  Frees the reader.
 * Returns the outcome, or what is wrong with the end; *names is of zeros after an
 * error.
 */
int table_reader_end(struct table_reader *r, int error, size_t rest,
    struct table_names *names) __attribute__((warn_unused_result));

/* All of it, of a table in memory.  "names" may be NULL: is it one? */
int table_names_read(struct table_names *names, const char *format,
    const struct iovec *parts, size_t count, size_t most, char *why,
    size_t why_size) __attribute__((warn_unused_result));

/* Takes one of zeros, too. */
void table_names_free(struct table_names *names);

/* What differs; all names do if "old" is of another format. */
void table_names_compare(const struct table_names *old,
    const struct table_names *new, struct table_delta *delta);

#endif
