/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a cache lies in its memory: header, index, slots, links of blocks, blocks.
 * The memory is shared by the threads of one process, and by that process and the
 * next, of the same program.
 *
 * A slot's sequence is odd while it is being written (Linux
 * Documentation/locking/seqlock.rst); who reads copies, and looks again.  All
 * that a reader follows is checked to lie within the memory, since it may change
 * under its hands.  Numbers of slots and blocks begin with 1; 0 is none.
 */
#ifndef NFDNS_NFQ_FORWARD_CACHE_STATE_H
#define NFDNS_NFQ_FORWARD_CACHE_STATE_H

#include <stdatomic.h>

#include "nfq/forward/cache.h"

#define CACHE_BLOCK		256	/* octets */
#define CACHE_BLOCKS_EACH	3	/* of an entry, on average */

/* What a slot is found for; the type counts for the first and the last. */
enum cache_use { USE_ANSWER, USE_NAME, USE_FAILURE };

struct cache_header {
	uint64_t magic;
	uint32_t entries;
	uint32_t hand;			/* of the clock */
	uint32_t free_slot, free_block;
	uint32_t used, blocks_used;
	_Atomic uint64_t hits, misses;
	uint64_t stored, replaced, evicted, flushed, octets;
	_Atomic uint64_t generation;
	int64_t shift;			/* ns that all times are to be moved by */
	uint8_t secret[CACHE_SECRET];
};

/* Readers look at any slot at any time, so all of it is atomic. */
struct cache_slot {
	_Atomic uint32_t sequence;
	_Atomic uint32_t next;		/* of its chain, or of the free ones */
	_Atomic uint64_t hash;
	_Atomic int64_t stored, expires;	/* ns */
	_Atomic int64_t retry;
	_Atomic uint32_t retry_s;
	_Atomic uint32_t hits;
	_Atomic uint32_t block;			/* its first */
	_Atomic uint16_t length;
	_Atomic uint16_t type;
	_Atomic uint8_t kind;			/* enum cache_kind */
	_Atomic uint8_t use;			/* enum cache_use */
	_Atomic uint8_t key_flags;
	_Atomic uint8_t taken;			/* 0 or 1 */
	_Atomic uint8_t prefetched;
	_Atomic uint8_t referenced;	/* counted down by the clock's hand */
};

struct cache {
	struct cache_header *header;
	_Atomic uint32_t *index;	/* first slot of each chain */
	uint32_t index_mask;
	struct cache_slot *slots;	/* from 1 */
	uint32_t entries;
	_Atomic uint32_t *links;	/* next block of each, from 1 */
	uint8_t (*blocks)[CACHE_BLOCK];
	uint32_t block_count;
};

uint64_t cache_hash(const struct cache *cache, const struct cache_key *key,
    enum cache_use use);

uint8_t cache_key_flags(const struct cache_key *key);

/* Where the slots of a cache of so many answers begin. */
size_t cache_slots_offset(uint32_t entries);

/* Takes a slot out of its chain and frees its blocks. */
void cache_remove(struct cache *cache, uint32_t slot);

#endif
