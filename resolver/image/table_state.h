/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An open table: table_open.c sets it up, table.c looks names up in it. */
#ifndef NFDNS_RESOLVER_IMAGE_TABLE_STATE_H
#define NFDNS_RESOLVER_IMAGE_TABLE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/image.h"
#include "resolver/image/table.h"

/* How many labels names of one kind have: each number once, largest first. */
struct table_depths {
	size_t count;
	uint8_t labels[NAME_MAX_LABELS + 1];
};

struct table {
	const uint8_t *image;
	size_t size;
	const struct image_header *header;
	const struct image_slot *slots;
	uint32_t mask;
	uint32_t tail_mask, head_mask;
	const uint64_t *tails, *heads;	/* image_filter.h */
	bool short_search;		/* an element is too short for tails */
	struct table_depths wildcards;	/* of the names behind the "*" */
	struct table_depths soas;	/* of names that have an SOA */
	bool loaded;
	size_t search_count;
	size_t zone_count;
	struct dns_name search[MESH_MAX_SEARCH];
	struct mesh_zone zones[MESH_MAX_ZONES];	/* deepest first */
};

static inline const struct image_node *
table_node(const struct table *t, uint32_t node)
{
	return (const void *)(t->image + node);
}

static inline const uint8_t *
table_node_name(const struct image_node *node)
{
	return (const uint8_t *)(node + 1);
}

/* Reads a name of the image.  Returns the octet behind it. */
const uint8_t *table_load_name(struct dns_name *name, const uint8_t *octets);

#endif
