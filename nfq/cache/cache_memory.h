/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory file of the cache.  The supervisor makes it and never reads it; a
 * worker maps it, and the worker after it gets the same file, so that what is kept
 * outlives a worker.  Its size is sealed: whoever maps it cannot be killed by
 * SIGBUS.  What stands in it is not trusted: a worker that an attacker took over
 * may have written it.
 */
#ifndef NFDNS_NFQ_CACHE_CACHE_MEMORY_H
#define NFDNS_NFQ_CACHE_CACHE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/cache/cache.h"

/* A cache in mapped memory; owns both.  All zero: none. */
struct cache_memory {
	struct cache *cache;		/* NULL: none */
	void *octets;
	size_t length;
	dev_t device;			/* of the file, and ... */
	ino_t inode;			/* ... which it is there */
};

/* An empty file for so many answers: a descriptor or a negative errno. */
int cache_memory_new(uint32_t entries) __attribute__((warn_unused_result));

/* Whether the file is one of cache_memory_new() for so many answers. */
bool cache_memory_fits(int fd, uint32_t entries);

/* Whether the file is the one that is mapped. */
bool cache_memory_is(const struct cache_memory *memory, int fd);

/*
 * Maps the file, which stays the caller's, and opens the cache in it.  No other
 * process writes it.  0 or a negative errno: -EINVAL if it does not fit.
 */
int cache_memory_open(struct cache_memory *memory, int fd, uint32_t entries)
    __attribute__((warn_unused_result));

/*
 * A copy of what the file holds now, while a worker writes it: an entry that
 * changed meanwhile is left out.  0 or a negative errno: -EINVAL if the file
 * holds no cache.
 */
int cache_memory_copy(struct cache_memory *memory, int fd)
    __attribute__((warn_unused_result));

/* None is there afterwards. */
void cache_memory_close(struct cache_memory *memory);

#endif
