/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which a feed keeps its table (state_dir/NAME.table): lines of
 * text, an empty line, and the table as it was received.
 *
 *   nfdns-feed 1
 *   format nds-proto
 *   version 2026-11-22T09:44:24Z/311	as the control plane says; may be empty
 *   time 1795340664			seconds since 1970 when it was kept
 *   source 192.0.2.10:15012		where it came from
 *   names 3456
 *   length 118250			octets behind the empty line
 *   hash 7d1c...			XXH3 of 128 bits over these, hexadecimal
 *
 * The lines come in this order.  The writer and the readers are of different
 * users: to a reader the file is input like any other.
 */
#ifndef NFDNS_RESOLVER_SOURCES_FEED_FILE_H
#define NFDNS_RESOLVER_SOURCES_FEED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_FILE_TABLE	".table"	/* behind the feed's name */

#define FEED_FILE_NAME_MAX 63		/* octets of a feed's name */
#define FEED_FILE_HEADER_MAX 1024	/* octets of the header, at most */
#define FEED_FILE_TEXT	256		/* of a text in it, with NUL */

struct feed_hash {
	uint64_t high, low;
};

/* Texts hold printable characters only. */
struct feed_header {
	char format[32];
	char version[FEED_FILE_TEXT];
	int64_t time;			/* CLOCK_REALTIME seconds */
	char source[FEED_FILE_TEXT];
	uint64_t names;			/* or objects, as the format counts */
	uint64_t length;
	struct feed_hash hash;
};

/* Letters, digits, '-' and '_', at most FEED_FILE_NAME_MAX: safe in a path. */
bool feed_file_name_is_valid(const char *name);

struct feed_hash feed_file_hash(const void *octets, size_t length);

/* The same of octets that come in pieces; _end() frees.  NULL: no memory. */
struct XXH3_state_s;			/* of xxhash.h */
struct XXH3_state_s *feed_file_hash_begin(void)
    __attribute__((warn_unused_result));
void feed_file_hash_add(struct XXH3_state_s *state, const void *octets,
    size_t length);
struct feed_hash feed_file_hash_end(struct XXH3_state_s *state);

bool feed_file_hash_equal(struct feed_hash a, struct feed_hash b);

/*
 * Writes the header into text.  Of version and source, what is not printable
 * ASCII becomes '?'.  Returns its length.
 */
size_t feed_file_header_write(const struct feed_header *header,
    char text[static FEED_FILE_HEADER_MAX]);

/*
 * Reads the header at the begin of a file, of which "octets" may be all or
 * only the first FEED_FILE_HEADER_MAX.  Returns its length, behind which the
 * table begins; or -EPROTO if it is none, and *why a static text.
 */
int feed_file_header_read(struct feed_header *header, const char *octets,
    size_t length, const char **why) __attribute__((warn_unused_result));

/*
 * The same of an open file, whose size must be what the header says; the
 * table's hash is not checked.  Its length; -EPROTO and *why; or another
 * negative errno.
 */
int feed_file_peek(struct feed_header *header, int fd, const char **why)
    __attribute__((warn_unused_result));

/*
 * Checks a whole file in memory, the table's hash included.  Returns the table
 * in it and *table_length; or NULL and *why a static text.
 */
const char *feed_file_check(struct feed_header *header, const char *octets,
    size_t length, size_t *table_length, const char **why)
    __attribute__((warn_unused_result));

#endif
