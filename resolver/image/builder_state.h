/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a builder holds, for its own files: builder_nodes.c has the names,
 * builder.c their records, builder_empty.c the names without records,
 * builder_write.c lays out the image.
 *
 * Everything lies in one arena, so items refer to each other by handles.
 */
#ifndef NFDNS_RESOLVER_IMAGE_BUILDER_STATE_H
#define NFDNS_RESOLVER_IMAGE_BUILDER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/arena.h"
#include "resolver/image/builder.h"
#include "resolver/image/builder_index.h"
#include "resolver/image/image.h"
#include "resolver/image/mesh.h"

struct build_node {
	uint32_t next;		/* in the order they were added */
	uint32_t set;		/* 0: empty non-terminal */
	uint32_t line;
	uint16_t source;
	uint16_t file;
	uint16_t shadows;	/* last source that defined the name again, plus 1 */
	uint8_t flags;		/* NAME_*, IMAGE_WILDCARD */
	uint8_t labels;
	uint8_t length;
	uint8_t octets[];	/* of a wildcard: without the "*" */
};

struct build_set {
	uint32_t owner;		/* the node that may change it; others are aliases */
	uint32_t first;		/* RRset */
	uint32_t image;		/* where it goes in the image */
	uint32_t origins[IMAGE_ORIGINS];	/* sets that were joined to it */
};

struct build_rrset {
	uint32_t next;
	uint32_t first, last;	/* record */
	uint32_t ttl;
	uint32_t count;
	uint32_t size;		/* octets of rdata in the image */
	uint16_t type;
};

struct build_record {
	uint32_t next;
	uint32_t rrset;
	uint16_t length;
	uint8_t octets[];
};

struct builder {
	const struct mesh *mesh;
	struct arena arena;
	struct build_index names;
	struct build_index records;
	uint32_t first_node, last_node;
	uint32_t recent;		/* the owner of the last record; 0: none */
	size_t name_count;		/* nodes with records */
	size_t node_count;
	uint64_t image_octets;		/* of the nodes, at most */
	uint64_t source_octets;		/* of what they come from */
	size_t crowded;			/* records that were left out */
	uint32_t crowded_node;		/* whose, the first of them */
	unsigned int source;
	unsigned int file;		/* where the next additions stand */
	char **files;			/* numbered behind the mesh's sources */
	size_t file_count;
	unsigned int closest_labels;	/* least, of wildcards with NAME_CLOSEST */
	uint32_t first_allocated;
	bool has_ipv4, has_ipv6;	/* addresses that were not allocated */
	struct image_policy policy;
	bool unloaded;			/* the image stands for no table */
	bool dropped;			/* some sets may be empty now */
	uint8_t types[UINT16_MAX / 8 + 1];	/* a bit for each type in use */
	size_t shadowed;		/* names of this source */
	struct build_shadow {
		uint32_t node;		/* of the earlier source */
		unsigned int file, line;
	} shadows[BUILDER_SHADOWS_KEPT];	/* the first of them */
};

/* Pointer of the wanted type to the item with that handle. */
#define BUILD_AT(b, type, handle) \
	ARENA_AT(&(b)->arena, type, handle)

/* A key of the names' index: the octets that are hashed, and which seed. */
struct build_key {
	const uint8_t *octets;
	uint8_t length;
	uint8_t labels;
	uint8_t wildcard;		/* 0 or IMAGE_WILDCARD */
};

/* Of builder_nodes.c: */

struct build_key build_key_of(const struct dns_name *name);

/*
 * Counts n octets of the image.  0, or -E2BIG above IMAGE_MAX_OCTETS, or -EFBIG
 * above what builder_allow() allows.
 */
int build_count_octets(struct builder *b, size_t n)
    __attribute__((warn_unused_result));

/* The node of that key, or 0. */
uint32_t build_node_find(const struct builder *b, const struct build_key *key);

/*
 * The node of that key.  If there is none, creates one of the current source,
 * without a set.  Returns 0 and *node, or -ENOMEM or -E2BIG.
 */
int build_node_get(struct builder *b, const struct build_key *key,
    uint32_t *node, bool *created) __attribute__((warn_unused_result));

/* Gives the node its set; the first set makes it a name of the source. */
void build_node_name(struct builder *b, uint32_t node, uint32_t set,
    unsigned int line);

/*
 * Whether an earlier source has the node.  Each such name is counted once for
 * the current source, which has it on that line.
 */
bool build_is_shadowed(struct builder *b, uint32_t node, unsigned int line);

/* Path of the nth file: the sources first, then the files they include. */
const char *build_file_path(const struct builder *b, size_t file);

/* Of builder.c: */

/* Drops allocated addresses of the family that no other address has. */
void build_choose_families(struct builder *b);

/* Removes names whose records were all dropped. */
void build_sweep(struct builder *b);

/* Of builder_empty.c: */

/* Adds the empty non-terminals of all names.  0, -ENOMEM or -E2BIG. */
int build_non_terminals(struct builder *b) __attribute__((warn_unused_result));

#endif
