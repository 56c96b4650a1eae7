/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings put beside each other: rates, and lists in order; and how they print. */
#ifndef NFDNS_NFQ_CLI_TOP_MODEL_H
#define NFDNS_NFQ_CLI_TOP_MODEL_H

#include <stdio.h>

#include "nfq/cli/top/reading.h"

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

#endif
