/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon's page says at one moment, as values.  "nfdns top" shows the
 * latest reading, and rates from the difference to the one before.
 *
 * This room holds what "nfdns top" prints: readings, lists, lines.
 */
#ifndef NFDNS_NFQ_CLI_TOP_READING_H
#define NFDNS_NFQ_CLI_TOP_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/status/status.h"
#include "resolver/clock.h"

/* Owns the lists.  Start from zeros: no daemon runs. */
struct top_reading {
	monotime_t when;
	int64_t time;			/* of day, seconds since 1970 */
	bool running;			/* else the rest means nothing */
	uint32_t state;			/* enum status_state */
	char degraded[STATUS_TEXT];	/* why */
	int32_t pid;
	uint64_t started;		/* seconds since 1970 */
	uint64_t restarts;
	uint64_t table_generation, table_names, table_loaded;
	struct status_counters counters;
	struct policy_shown *rules;	/* of the policy; "(others)" is last */
	size_t rule_count;
	bool watches;			/* the two below can be read */
	struct hitters_list hitters[HITTERS_KINDS];
};

/*
 * Reads the page; hitters NULL: who watches may not see names and users.
 * 0 or -ENOMEM; free it in both cases.
 */
int top_read(struct top_reading *reading, const struct status_page *page,
    const struct hitters *hitters, monotime_t now, int64_t time)
    __attribute__((warn_unused_result));
void top_reading_free(struct top_reading *reading);

#endif
