/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_dir/load: the errors and warnings of the daemon's last load or reload,
 * and the files of the table in use.  The status page has a fixed size and no
 * room for them.  The supervisor writes the file; "nfdns reload" and "nfdns
 * status" read it.
 */
#ifndef NFDNS_POLICY_STATUS_LOAD_REPORT_H
#define NFDNS_POLICY_STATUS_LOAD_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/text/diag.h"
#include "policy/config/config.h"

#define LOAD_REPORT_FILE "load"		/* in run_dir */
#define LOAD_REPORT_SOURCES 1024	/* at most; as CONFIG_MAX_ITEMS */

/* A table's file or directory as the configuration names it. */
struct load_source {
	char *path;
	int64_t changed;	/* CLOCK_REALTIME seconds; of a directory, that of
				   its newest file */
};

/* A feed whose table the configuration names. */
struct load_feed {
	char *name;
	char *table;		/* the file that it keeps */
	uint32_t stale_after;	/* seconds */
};

/* Owns all that it points to. */
struct load_report {
	uint32_t sequence;	/* reload_sequence after this load */
	uint64_t names;		/* of the table in use */
	struct load_source *sources;	/* of the table in use */
	size_t source_count;
	char *feed_run_dir;	/* NULL: there are no feeds */
	struct load_feed *feeds;
	size_t feed_count;
	struct diag diag;	/* of the last load, even if it was refused */
};

/*
 * Replaces the file in config->run_dir atomically.  The sources of config are
 * those of the table in use, unless has_table is false.  0, or a negative errno;
 * then there is no file.
 */
int load_report_write(const struct config *config, uint32_t sequence,
    uint64_t names, bool has_table, const struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Reads the file.  An unprivileged user owns the directory, so the file is
 * hostile input; anything but a regular file is refused.
 * 0; -ENOENT; -EPROTO if load_report_write() never writes such a file; or
 * another negative errno.  After an error *report is empty.
 */
int load_report_read(struct load_report *report, const char *run_dir)
    __attribute__((warn_unused_result));
/* The same with the file's text, which it overwrites. */
int load_report_parse(struct load_report *report, char *text)
    __attribute__((warn_unused_result));
void load_report_free(struct load_report *report);

void load_report_remove(const char *run_dir);

#endif
