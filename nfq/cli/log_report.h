/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns log verify" prints, as text or as one JSON object. */
#ifndef NFDNS_NFQ_CLI_LOG_REPORT_H
#define NFDNS_NFQ_CLI_LOG_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "nfq/cli/logs/verify.h"
#include "policy/status/status.h"
#include "resolver/text/json_write.h"

/* What nfdnsd has counted since it started, from its status page. */
struct log_counted {
	bool known;			/* it runs */
	uint64_t since;			/* seconds since 1970 */
	uint64_t packets;		/* by the kernel's rules, a second ago at most */
	struct status_counters sums;
};

struct log_report {
	struct log_counted counted;
	struct json_write list;		/* of the findings; out NULL: as text */
	char *findings_json;		/* what it has written */
	size_t findings_length;
	bool failed;			/* something is wrong */
	unsigned int findings;		/* of this file */
};

/*
 * For "--json": findings are kept until log_report_end().  0 or -ENOMEM.
 */
int log_report_json(struct log_report *report)
    __attribute__((warn_unused_result));

/* Reads the status page in run_dir, if a daemon runs.  Before any log is read. */
void log_report_count(struct log_report *report, const char *run_dir);

/* A fault in that file, or what is none but worth a line. */
void log_report_fault(struct log_report *report, const char *path,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
void log_report_remark(struct log_report *report, const char *path,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Says how many faults there were no lines for; the next file begins. */
void log_report_end_file(struct log_report *report, const char *path);

/* The sums.  Returns the exit code. */
int log_report_end(struct log_report *report,
    const struct audit_verify *verify);
void log_report_free(struct log_report *report);

#endif
