/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether nfdnsd runs, with this configuration, and its rules are in place. */
#ifndef NFDNS_NFQ_CLI_DOCTOR_DAEMON_H
#define NFDNS_NFQ_CLI_DOCTOR_DAEMON_H

#include "nfq/cli/doctor/findings.h"
#include "policy/config/config.h"
#include "policy/status/status.h"
#include "rules/ruleset.h"

/* The configuration that was read, or NULL with its first error in "diag". */
void daemon_check_config(struct findings *findings, const char *path,
    const struct config *config, const struct diag *diag);

/* The files that have changed since the daemon loaded them, a line each. */
void daemon_check_changed(struct findings *findings, const char *files);

/* Why the last start failed, and when (CLOCK_REALTIME seconds); "": it did not. */
struct start_failed {
	const char *why;
	int64_t when;
};

/*
 * The daemon of that run_dir; config may be NULL.  page is NULL, and error a negative
 * errno, if it cannot be asked; then "failed" is needed, and the rest is left out.  -ETIMEDOUT: the process
 * "pid" does not react.
 */
void daemon_check_status(struct findings *findings, const char *run_dir,
    const struct config *config, const struct status_page *page,
    const struct start_failed *failed, int error, pid_t pid);

/*
 * ruleset_build() with the ports of the running daemon's listeners, if page is not
 * NULL.
 */
int daemon_rules(struct ruleset *set, const struct config *config,
    const struct status_page *page, struct diag *diag)
    __attribute__((warn_unused_result));

/* What the daemon says of its rules: as text, and a line for each that differs. */
struct rules_said {
	const char *text, *differences;
};

/* The rules in force against those of config; NULL: nobody could be asked. */
void daemon_check_rules(struct findings *findings, const struct config *config,
    const struct status_page *page, const struct rules_said *said);

#endif
