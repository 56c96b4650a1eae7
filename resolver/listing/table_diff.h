/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one table has and another has not. */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_DIFF_H
#define NFDNS_RESOLVER_LISTING_TABLE_DIFF_H

#include <stdio.h>

#include "resolver/image/table.h"

/*
 * Prints the difference in the order of the names: for people, as lines of a
 * zone file behind "-" (before) or "+" (after); for programs, a JSON object a
 * name with "name", "change" ("added", "removed", "changed"), and what "nfdns
 * table list" says of it as "before" and "after".  Where records come from
 * does not count, nor in what order they stand.
 * Returns how many names differ (INT_MAX for more), or a negative errno.
 */
int table_diff_print(const struct table *before, const struct table *after,
    FILE *out) __attribute__((warn_unused_result));
int table_diff_print_json(const struct table *before,
    const struct table *after, FILE *out) __attribute__((warn_unused_result));

#endif
