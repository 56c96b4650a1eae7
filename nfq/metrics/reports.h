/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics of files that nfdns-metrics cannot open: the supervisor prints them into
 * memory that both map.
 */
#ifndef NFDNS_NFQ_METRICS_REPORTS_H
#define NFDNS_NFQ_METRICS_REPORTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_REPORTS_MAX	((size_t)256 << 10)	/* octets of text */

struct metrics_reports {
	_Atomic uint32_t sequence;	/* odd while the text is written */
	_Atomic uint32_t length;
	char text[METRICS_REPORTS_MAX];
};

/*
 * The writer's side.  *fd is a descriptor that cannot be used to write, for
 * metrics_reports_map().  0 or a negative errno.
 */
int metrics_reports_new(struct metrics_reports **reports, int *fd)
    __attribute__((warn_unused_result));
/* 0 or a negative errno.  The descriptor stays the caller's. */
int metrics_reports_map(const struct metrics_reports **reports, int fd)
    __attribute__((warn_unused_result));
/* Unmaps it, on either side; NULL is allowed. */
void metrics_reports_free(const struct metrics_reports *reports);

/* Replaces the text; one that is too long becomes none. */
void metrics_reports_write(struct metrics_reports *reports, const char *text,
    size_t length);

/*
 * Copies the text, which ends with NUL then.  "" if it is being written for too
 * long: the writer may have ended meanwhile.
 */
void metrics_reports_read(const struct metrics_reports *reports,
    char text[static METRICS_REPORTS_MAX + 1]);

#endif
