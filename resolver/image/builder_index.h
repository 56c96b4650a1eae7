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

#endif
