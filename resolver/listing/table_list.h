/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All names of a table, sorted by their texts.
 *
 * This room prints and compares tables.  It reads images only: no source, no
 * configuration, no packet.
 */
#ifndef NFDNS_RESOLVER_LISTING_TABLE_LIST_H
#define NFDNS_RESOLVER_LISTING_TABLE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/image/table.h"

struct table_listed {
	const char *name;
	uint32_t node;
	uint8_t flags;
};

/* Start from zeros; owns its names and their texts. */
struct table_list {
	struct table_listed *names;
	size_t count;
	char *texts;		/* the names' texts, each ends with NUL */
};

/* 0 or -ENOMEM; table_list_free() after both. */
int table_list_make(struct table_list *list, const struct table *table)
    __attribute__((warn_unused_result));
void table_list_free(struct table_list *list);

#endif
