/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a table: for people as lines of a zone file; for programs as JSON, one
 * object a line with "name", "owned", "source", "line" and "records".
 */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_PRINT_H
#define NFDNS_RESOLVER_LISTING_TABLE_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "resolver/dns/name.h"
#include "resolver/image/table.h"

/* Prints all names and their records, sorted.  0 or a negative errno. */
int table_print(const struct table *table, FILE *out)
    __attribute__((warn_unused_result));
int table_print_json(const struct table *table, FILE *out)
    __attribute__((warn_unused_result));

/*
 * Prints the records of one type (TYPE_ANY: all types) that the table has for a
 * lower-case name, how they were found and their source.  Returns 1 if there
 * are records, 0 if not, or a negative errno.  "outside" says what a client gets
 * for a name of no table and no zone ("is answered by ...").
 */
int table_print_find(const struct table *table, const struct dns_name *name,
    uint16_t type, const char *outside, FILE *out)
    __attribute__((warn_unused_result));
int table_print_find_json(const struct table *table,
    const struct dns_name *name, uint16_t type, FILE *out)
    __attribute__((warn_unused_result));

#endif
