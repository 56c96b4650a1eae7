/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences between two tables. */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_DIFF_H
#define NFDNS_RESOLVER_LISTING_TABLE_DIFF_H

#include <stdio.h>

#include "resolver/image/table.h"

/*
 * Prints the differences sorted by name.  For people: lines of a zone file
 * after "-" (before) or "+" (after).  For programs: one JSON object for each
 * name, with "name", "change" ("added", "removed", "changed") and, as "before"
 * and "after", what "nfdns table list" prints.  The order of records and their
 * sources are not compared. Returns the number of names that differ, at most
 * INT_MAX, or a negative errno.
 */
int table_diff_print(const struct table *before, const struct table *after,
    FILE *out) __attribute__((warn_unused_result));
int table_diff_print_json(const struct table *before,
    const struct table *after, FILE *out) __attribute__((warn_unused_result));

#endif
