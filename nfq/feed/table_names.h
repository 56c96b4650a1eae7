/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a table that a feed received, as far as they must be known to
 * keep it: how many there are, and what differs between two tables.  Of
 * Kubernetes objects, an object's kind, namespace and name count as its name.
 */
#ifndef NFDNS_NFQ_FEED_TABLE_NAMES_H
#define NFDNS_NFQ_FEED_TABLE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "nfq/feed/object_names.h"
#include "resolver/sources/name_table.h"

struct table_names {
	enum { TABLE_NAMES_NONE, TABLE_NAMES_NDS, TABLE_NAMES_OBJECTS } kind;
	struct name_table nds;		/* borrows the table's octets */
	struct object_names objects;
};

/*
 * Reads a table of that format, which must live as long as *names.  0;
 * -EBADMSG and a line in why if it cannot be decoded; -ENOMEM.
 */
int table_names_open(struct table_names *names, const char *format,
    const void *octets, size_t length, char *why, size_t why_size)
    __attribute__((warn_unused_result));
/* Takes one of zeros, too. */
void table_names_close(struct table_names *names);

/* The same octets are elsewhere now. */
void table_names_move(struct table_names *names, const void *octets);

uint64_t table_names_count(const struct table_names *names);
/* Entries that cannot be used and are ignored. */
uint64_t table_names_faulty(const struct table_names *names);

/*
 * What differs; all names do if old is of zeros or of another format.  0, or an
 * error of name_table_compare(): *delta does not count then.
 */
int table_names_compare(const struct table_names *old,
    const struct table_names *new, struct name_table_delta *delta)
    __attribute__((warn_unused_result));

#endif
