/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings put beside each other: rates, and lists in order; and how they print. */
#ifndef NFDNS_NFQ_CLI_TOP_MODEL_H
#define NFDNS_NFQ_CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/status/status.h"
#include "resolver/clock.h"

/*
 * What the daemon's page says at one moment, as values.  "nfdns top" shows the
 * latest reading, and rates from the difference to the one before.
 *
 * This room holds what "nfdns top" prints: readings, lists, lines.
 */

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

/* What can be listed. */
enum top_list {
	TOP_NAMES,
	TOP_USERS,
	TOP_RULES,
	TOP_TYPES,
	TOP_VERDICTS,
	TOP_DECISIONS,
	TOP_LATENCY,
	TOP_LISTS
};

const char *top_list_text(enum top_list list);	/* "names" */
/* False: no list has that name. */
bool top_list_read(enum top_list *list, const char *text);

/* Start from zeros. */
struct top_model {
	struct top_reading now, before;	/* before: perhaps not running */
};

/*
 * Takes a reading over, as the latest.  One of another daemon than before is
 * compared with nothing.
 */
void top_model_take(struct top_model *model, struct top_reading *reading);
void top_model_free(struct top_model *model);

/* Whether there are two readings to compare. */
bool top_model_has_rates(const struct top_model *model);

/* How often a second a counter grew; 0 without two readings. */
double top_rate(const struct top_model *model, uint64_t before, uint64_t now);

/* Questions by their latency: between the two readings, or since the start. */
void top_model_spent(const struct top_model *model,
    uint64_t counts[static STATUS_SPENT], uint64_t *ns);

/*
 * One line of a list.  Of names and users, count and rate are of the time that
 * their list covers, and so many as "more" says may have been counted for
 * others: at least "count", at most "count" and "more".
 */
struct top_row {
	char *label;
	uint64_t count, more;
	double rate;
};

/* Owns the rows. */
struct top_rows {
	struct top_row *rows;
	size_t count, room;
	uint64_t total;			/* of which a share is said */
};

/* The largest count first.  0 or -ENOMEM; free the rows in both cases. */
int top_rows_read(struct top_rows *rows, const struct top_model *model,
    enum top_list list) __attribute__((warn_unused_result));
void top_rows_free(struct top_rows *rows);

/* print.c */

struct top_view {
	unsigned int rows, columns;	/* of a terminal; 0: lines of any length */
	bool only;			/* that list */
	enum top_list list;
};

/*
 * Prints state, table, numbers and latency, then lists: of a terminal as much as it has
 * room for, else ten rows of each, or all of the only one.  0 or -ENOMEM.
 */
int top_print(const struct top_model *model, const struct top_view *view,
    FILE *out) __attribute__((warn_unused_result));

/* All of it as one JSON object on one line.  0, -ENOMEM or -EIO. */
int top_print_json(const struct top_model *model, FILE *out)
    __attribute__((warn_unused_result));

/* Percentiles of the status page's histogram, and numbers as texts. */

/* No question was measured. */
#define LATENCY_NONE	STATUS_SPENT

/*
 * The first bucket up to which at least so many of 1000 questions were
 * answered; LATENCY_NONE if there are none.
 */
unsigned int latency_bucket(const uint64_t counts[static STATUS_SPENT],
    unsigned int permille);

/* What is shown of the histogram. */
#define LATENCIES	4U
extern const struct latency {
	const char *title;		/* "p99" */
	unsigned int permille;
} latencies[LATENCIES];

#define TOP_TEXT	32

/* A bucket's bound: "<10us", "<2ms", ">5s"; "-" for LATENCY_NONE. */
const char *latency_text(unsigned int bucket, char text[static TOP_TEXT]);

/* "7.1us", "12.4ms", "1.3s"; of nanoseconds. */
const char *latency_mean_text(uint64_t ns, char text[static TOP_TEXT]);

/* At most seven characters: "999,999", "1.23M", "12.3G". */
const char *number_text(uint64_t number, char text[static TOP_TEXT]);

/* The same of questions a second: "0.4", "12,345". */
const char *rate_text(double rate, char text[static TOP_TEXT]);

/* "12s", "3:04", "5:12:44", "4d 03:12". */
const char *span_text(uint64_t seconds, char text[static TOP_TEXT]);

#endif
