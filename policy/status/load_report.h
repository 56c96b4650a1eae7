/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_dir/load: what the last load or reload of the daemon had to say, and
 * which files the table in use came from.  Text that has no place in the
 * status page's fixed size.  Written by the supervisor, read by "nfdns reload"
 * and "nfdns status".
 */
#ifndef NFDNS_POLICY_STATUS_LOAD_REPORT_H
#define NFDNS_POLICY_STATUS_LOAD_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/text/diag.h"
#include "resolver/image/mesh.h"

#define LOAD_REPORT_FILE "load"		/* in run_dir */
#define LOAD_REPORT_SOURCES 1024	/* at most; as CONFIG_MAX_ITEMS */

/* A table's file or directory as the configuration names it. */
struct load_source {
	char *path;
	int64_t changed;	/* CLOCK_REALTIME seconds; of a directory, that of
				   its newest file */
};

/* Owns all that it points to. */
struct load_report {
	uint32_t sequence;	/* status page's reload_sequence once it was over */
	uint64_t names;		/* of the table in use */
	struct load_source *sources;	/* of the table in use */
	size_t source_count;
	struct diag diag;	/* of the last load, also of one that was refused */
};

/*
 * Replaces the file at one go.  mesh's sources are those of the table in use,
 * NULL if there is none.  0 or a negative errno; then there is no file.
 */
int load_report_write(const char *run_dir, uint32_t sequence, uint64_t names,
    const struct mesh *mesh, const struct diag *diag)
    __attribute__((warn_unused_result));

/*
 * Reads it.  The directory is an unprivileged user's: what stands there is
 * input like any other, and nothing but a regular file is read.
 * 0; -ENOENT; -EPROTO if it is not what load_report_write() writes; or another
 * negative errno.  With an error, *report is empty.
 */
int load_report_read(struct load_report *report, const char *run_dir)
    __attribute__((warn_unused_result));
/* The same of the file's text, which is changed on the way. */
int load_report_parse(struct load_report *report, char *text)
    __attribute__((warn_unused_result));
void load_report_free(struct load_report *report);

void load_report_remove(const char *run_dir);

#endif
