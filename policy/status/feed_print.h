/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The feeds' part of nfdns status. */
#ifndef NFDNS_POLICY_STATUS_FEED_PRINT_H
#define NFDNS_POLICY_STATUS_FEED_PRINT_H

#include <stdio.h>

#include "policy/status/feed_status.h"
#include "policy/status/load_report.h"

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
 * shown as that.  0 or -ENOMEM.  Borrows from load.
 */
int feeds_shown_read(struct feeds_shown *feeds, const struct load_report *load)
    __attribute__((warn_unused_result));
void feeds_shown_free(struct feeds_shown *feeds);

/* Lines "feed.NAME.KEY  VALUE", the value at that column.  "now" as their times. */
void feeds_shown_print(const struct feeds_shown *feeds, int column, int64_t now,
    FILE *out);

/* An array of objects of jansson; NULL for lack of memory. */
struct json_t *feeds_shown_json(const struct feeds_shown *feeds, int64_t now);

#endif
