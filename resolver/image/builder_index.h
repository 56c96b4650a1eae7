/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing hash table with open addressing: from hashes to handles.  It keeps
 * only a 32-bit tag of each hash; the tag's upper bits give the first slot.
 * The caller compares the item that a handle refers to.
 */
#ifndef NFDNS_RESOLVER_IMAGE_BUILDER_INDEX_H
#define NFDNS_RESOLVER_IMAGE_BUILDER_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Start from zeros.  Owns its slots. */
struct build_index {
	struct build_slot {
		uint32_t tag;
		uint32_t handle;	/* 0: empty */
	} *slots;
	unsigned int bits;
	size_t count;
};

/* The next handle with that tag, or 0; start with *step = 0. */
uint32_t build_index_next(const struct build_index *index, uint32_t tag,
    size_t *step);

/* Makes space for one more handle, at a load of 3/4.  0, -ENOMEM, -E2BIG. */
int build_index_reserve(struct build_index *index)
    __attribute__((warn_unused_result));

/* Adds a handle, after build_index_reserve(). */
void build_index_place(struct build_index *index, uint32_t tag,
    uint32_t handle);

/*
 * Puts a handle in the place of the one that build_index_next() has returned,
 * which left step.
 */
void build_index_replace(struct build_index *index, uint32_t tag, size_t step,
    uint32_t handle);

/* Frees the slots; leaves an empty index. */
void build_index_free(struct build_index *index);

#endif
