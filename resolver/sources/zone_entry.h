/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a master file (RFC 1035 section 5.1): lines without their
 * comments, those within parentheses joined.
 */
#ifndef NFDNS_RESOLVER_SOURCES_ZONE_ENTRY_H
#define NFDNS_RESOLVER_SOURCES_ZONE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

/* Longest entry, in octets: the limit of ldns. */
#define ZONE_ENTRY_MAX	65535

/* Start with text, end, .line = 1; borrows the text. */
struct zone_cursor {
	const char *at, *end;
	unsigned int line;	/* of at */
};

struct zone_entry {
	char *text;		/* ZONE_ENTRY_MAX + 1 octets of the caller's */
	size_t length;
	unsigned int line;	/* where it begins */
	const char *fault;	/* NULL, or what is wrong with it */
	bool cut_off;		/* and the text ends inside of it */
};

/*
 * The next entry that is not empty, NUL-terminated.  A blank at its front is
 * kept, blanks at its end are not.  False at the end of the text.  If the entry
 * has a fault, the cursor is behind it.
 */
bool zone_entry_next(struct zone_cursor *cursor, struct zone_entry *entry);

#endif
