/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for many small items that are freed together.  Items refer to each
 * other by 32-bit offsets, "handles"; 0 is none.  A pointer into the arena is
 * valid only until the next arena_take().
 */
#ifndef NFDNS_RESOLVER_IMAGE_ARENA_H
#define NFDNS_RESOLVER_IMAGE_ARENA_H

#include <stddef.h>
#include <stdint.h>

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

#endif
