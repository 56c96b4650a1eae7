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

#include "resolver/image/builder.h"
#include "resolver/image/image.h"
#include "resolver/image/mesh.h"

/*
 * Memory for many small items that are freed together.  Items refer to each
 * other by 32-bit offsets, "handles"; 0 is none.  A pointer into the arena is
 * valid only until the next arena_take().
 */

/* Start from ARENA_INIT. */
struct arena {
	uint8_t *octets;
	size_t used, size;
};

/* The first octets are unused, so that no handle is 0. */
#define ARENA_INIT { .used = 4 }

/* Pointer of the wanted type to the item with that handle. */
#define ARENA_AT(arena, type, handle) \
	((type *)(void *)((arena)->octets + (handle)))

/*
 * Takes n octets, set to zero and aligned to 4.  Returns 0 and *handle, or
 * -ENOMEM, or -E2BIG above 4 GiB.
 */
int arena_take(struct arena *arena, size_t n, uint32_t *handle)
    __attribute__((warn_unused_result));

void arena_free(struct arena *arena);

/*
 * A growing hash table with open addressing: from hashes to handles.  It keeps
 * only a 32-bit tag of each hash; the tag's upper bits give the first slot.
 * The caller compares the item that a handle refers to.
 */

/* Start from zeros.  Owns its slots. */
struct build_index {
	struct build_slot {
		uint32_t tag;
		uint32_t handle;	/* 0: empty */
	} *slots;
	unsigned int bits;
	size_t count;
};

/*
 * Has the processor fetch the place where a tag is looked for.  A large index
 * is in no cache: whoever has several look-ups to do calls this for all of them
 * first, and waits for memory once.
 */
__attribute__((always_inline)) static inline void
build_index_prefetch(const struct build_index *index, uint32_t tag)
{
	if (index->slots != NULL)
		__builtin_prefetch(&index->slots[tag >> (32 - index->bits)]);
}

/* The next handle with that tag, or 0; start with *step = 0. */
uint32_t build_index_next(const struct build_index *index, uint32_t tag,
    size_t *step);

/* Makes space for one more handle, at a load of 1/2.  0, -ENOMEM, -E2BIG. */
int build_index_reserve(struct build_index *index)
    __attribute__((warn_unused_result));

/* Adds a handle, after build_index_reserve(). */
void build_index_place(struct build_index *index, uint32_t tag,
    uint32_t handle);

/* Makes space for that many handles in all, unless it would be a lot of memory. */
void build_index_expect(struct build_index *index, size_t count);

/*
 * Puts a handle in the place of the one that build_index_next() has returned,
 * which left step.
 */
void build_index_replace(struct build_index *index, uint32_t tag, size_t step,
    uint32_t handle);

/* Frees the slots; leaves an empty index. */
void build_index_free(struct build_index *index);

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
