/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From hashes to a builder's handles: a table with open addressing that grows.
 * Of the hash only a 32-bit tag is kept, whose upper bits say where to begin;
 * who finds a handle compares what it stands for.
 */
#ifndef NFDNS_RESOLVER_IMAGE_BUILDER_INDEX_H
#define NFDNS_RESOLVER_IMAGE_BUILDER_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Start from zeros; owns its slots, which free() takes. */
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

/* Makes room for one more at a load of three quarters.  -ENOMEM, -E2BIG. */
int build_index_reserve(struct build_index *index)
    __attribute__((warn_unused_result));

/* Adds a handle, after room was made for it. */
void build_index_place(struct build_index *index, uint32_t tag,
    uint32_t handle);

#endif
