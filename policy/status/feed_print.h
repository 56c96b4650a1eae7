/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The feeds' part of nfdns status. */
#ifndef NFDNS_POLICY_STATUS_FEED_PRINT_H
#define NFDNS_POLICY_STATUS_FEED_PRINT_H

#include <stdio.h>

#include "policy/status/feed_status.h"
#include "policy/config/config.h"

struct feed_shown {
	const char *name;		/* borrowed */
	struct feed_report report;	/* all zero: there is none */
	int64_t table_time;
	uint32_t stale_after;
};

/* Owns the list; start from zeros. */
struct feeds_shown {
	struct feed_shown *list;
	size_t count;
};

/*
 * Reads how the feeds are that the daemon has tables of; what cannot be read is
 * shown as that.  0 or -ENOMEM.  Borrows from config.
 */
int feeds_shown_read(struct feeds_shown *feeds, const struct config *config)
    __attribute__((warn_unused_result));
void feeds_shown_free(struct feeds_shown *feeds);

/*
 * Prints the left of a line: "SECTION.KEY", which may be any octets, and blanks
 * up to the column of the values.
 */
void print_key(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Lines "feed.NAME.KEY  VALUE".  "now" as their times. */
void feeds_shown_print(const struct feeds_shown *feeds, int64_t now, FILE *out);

/* The member "feeds": an array of objects. */
struct json_write;
void feeds_shown_write(const struct feeds_shown *feeds, int64_t now,
    struct json_write *w);

#endif
