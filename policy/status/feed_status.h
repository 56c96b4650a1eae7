/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_dir/NAME.json of nfdns-feed: how a feed and its table are.  Written by
 * nfdns-feed, read by nfdns and by nfdnsd's monitor, which run as other users:
 * what they read is input like any other.
 */
#ifndef NFDNS_POLICY_STATUS_FEED_STATUS_H
#define NFDNS_POLICY_STATUS_FEED_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "resolver/feed/feed.h"
#include "policy/config/config.h"

#define FEED_STATUS_BEAT_S	10	/* it is written at least so often */
#define FEED_STATUS_MAX		8192	/* octets of the file */

/* What is kept of a feed's tables.  Times as in struct feed_status. */
struct feed_kept {
	int64_t time;			/* of the table in use; 0: there is none */
	uint64_t names;			/* of it */
	uint64_t octets;
	char version[FEED_TEXT];	/* of it, not of one that came later */
	char error[FEED_TEXT];		/* why the last one could not be kept */
};

/* Texts are printable UTF-8. */
struct feed_report {
	char type[16];			/* "xds" */
	int64_t written;		/* when this was */
	bool running;			/* the feed's process */
	uint64_t restarts;		/* of it */
	int64_t current;		/* when the table was current last */
	struct feed_status status;
	struct feed_kept kept;
};

/*
 * Replaces directory/NAME.json; -ENOENT if the directory does not exist, or
 * another negative errno.
 */
int feed_status_write(const struct feed_report *report, const char *directory,
    const char *name) __attribute__((warn_unused_result));

/*
 * Reads it; nothing but a regular file of at most FEED_STATUS_MAX octets.
 * 0; -ENOENT; -EPROTO if it is not what feed_status_write() writes; or another
 * negative errno.  With an error, *report is all zero.
 */
int feed_status_read(struct feed_report *report, const char *directory,
    const char *name) __attribute__((warn_unused_result));

/*
 * state_dir/NAME.seen says by its time when the table was current last, for
 * after a reboot, when there is no report.  0 or a negative errno.
 */
int feed_status_seen(const char *state_dir, const char *name, int64_t current)
    __attribute__((warn_unused_result));

/*
 * When the kept table at state_dir/NAME.table was current last for sure: when it
 * was written, or seen since.  0: it is not there.
 */
int64_t feed_status_table_time(const char *table);

/* What nfdnsd and nfdns status think of a feed. */
enum feed_health {
	FEED_HEALTHY,
	FEED_WAITS,			/* there has been no table yet */
	FEED_STALE,
	FEED_CERTIFICATE,		/* ends soon */
	FEED_NOT_KEPT,			/* a newer table than the one in use */
};

/* When the table was current last: a report may be missing (all zero). */
int64_t feed_status_current(const struct feed_report *report,
    int64_t table_time, int64_t now);

/*
 * table_time: of the kept table, 0 if there is none.  stale_after in seconds.
 * "now" is CLOCK_REALTIME seconds.
 */
enum feed_health feed_status_health(const struct feed_report *report,
    int64_t table_time, uint32_t stale_after, int64_t now);

#define FEED_HEALTH_TEXT 200

/*
 * In words, and what to do: "feed mesh: ...".  NULL if it is healthy.  While
 * nothing changes the text does not either, but for the certificate's end.
 */
const char *feed_status_text(enum feed_health health, const char *name,
    const struct feed_report *report, uint32_t stale_after, int64_t now,
    char text[static FEED_HEALTH_TEXT]);

/* "5 minutes", "3 days": one unit, for people. */
#define FEED_SPAN_TEXT 32
const char *feed_status_span(int64_t seconds, char text[static FEED_SPAN_TEXT]);

/* The members of the object that feed_status_write() writes. */
struct json_write;
void feed_status_put(const struct feed_report *report, bool running,
    struct json_write *w);

/* The feeds' part of nfdns status. */

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
void feeds_shown_write(const struct feeds_shown *feeds, int64_t now,
    struct json_write *w);

#endif
