/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which records "nfdns log" shows. */
#ifndef NFDNS_NFQ_CLI_LOGS_LOG_FILTER_H
#define NFDNS_NFQ_CLI_LOGS_LOG_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/cli/logs/log_text.h"

/* All that are set must hold; borrows its texts. */
struct log_filter {
	const char *name;		/* NULL: any */
	const char *rule;
	const char *verdict;
	bool has_user;
	uid_t user;
	uint64_t since_ns;		/* 0: from the beginning */
};

/*
 * Whether the name matches: "*" stands for any octets, letters have no case, and
 * the final dot may be left out.
 */
bool log_filter_name(const char *pattern, const char *name);

bool log_filter_takes(const struct log_filter *filter,
    const struct audit_line *line);

/*
 * A moment: "10s", "5m", "2h", "3d" before now, "HH:MM[:SS]" today, or
 * "YYYY-MM-DD[ HH:MM[:SS]]", local time.  False: it is none of these.
 */
bool log_filter_since(uint64_t *since_ns, const char *text, int64_t now);

#endif
