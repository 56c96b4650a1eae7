/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a table: for people as lines of a zone file; for programs as JSON, one
 * object a line with "name", "owned", "source", "line" and "records".
 */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_PRINT_H
#define NFDNS_RESOLVER_LISTING_TABLE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "resolver/dns/name.h"
#include "resolver/image/table.h"
#include "resolver/text/json_write.h"

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

/*
 * Parts for other listings.  The first prints the records of a node as lines of
 * a zone file and returns their number, or -ENOMEM.  The second puts the
 * records and their source as members of the open object.
 */
int table_print_records(const struct table *table, uint32_t node,
    uint16_t type, const char *owner, FILE *out);
void table_describe(const struct table *table, uint32_t node, uint8_t flags,
    uint16_t type, struct json_write *w);

/* Steps through the records of an RRset; start with *index = 0. */
bool table_next_record(const struct rrset *rrset, uint32_t *index,
    const uint8_t **data, size_t *length);

#endif
