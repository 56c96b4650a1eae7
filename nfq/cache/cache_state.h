/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a cache lies in its memory: header, index, slots, links of blocks, blocks.
 * The memory is shared by the threads of one process, and by that process and the
 * next, of the same program.
 *
 * Index, slots and blocks are divided among shards.  All that is kept under one
 * name is in one shard, and who writes there holds its lock.  The locks are the
 * process's: one that dies in the middle of a write leaves none behind, and what it
 * has left half-written is put right when the next process opens the memory.
 *
 * A slot's sequence is odd while it is being written (Linux
 * Documentation/locking/seqlock.rst); who reads copies, and looks again.  All
 * that a reader follows is checked to lie within the memory, since it may change
 * under its hands.  Numbers of slots and blocks begin with 1; 0 is none.
 */
#ifndef NFDNS_NFQ_CACHE_CACHE_STATE_H
#define NFDNS_NFQ_CACHE_CACHE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "nfq/cache/cache.h"

#define CACHE_BLOCK		256	/* octets */
#define CACHE_BLOCKS_EACH	3	/* of an entry, on average */
#define CACHE_BLOCK_WORDS	(CACHE_BLOCK / sizeof(uint64_t))
#define CACHE_SHARDS		64	/* at most, a power of 2, */
#define CACHE_SHARD_ENTRIES	128	/* each for so many entries, at least */

/* What a slot is found for; the type counts for the first and the last. */
enum cache_use { USE_ANSWER, USE_NAME, USE_FAILURE };

/* What the writers of a shard know of it. */
struct cache_lists {
	uint32_t hand;			/* of the clock */
	uint32_t free_slot, free_block;
	uint32_t used, blocks_used;
	uint64_t stored, replaced, evicted, flushed, octets;
};

struct cache_header {
	uint64_t magic;
	uint32_t entries;
	_Atomic uint64_t hits, misses;
	_Atomic uint64_t generation;
	uint8_t secret[CACHE_SECRET];
	struct cache_lists lists[CACHE_SHARDS];
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

struct cache_shard {
	pthread_mutex_t lock;
	struct cache_lists *lists;
	_Atomic uint32_t *index;	/* first slot of each chain */
	uint32_t first, last;		/* slots; for each CACHE_BLOCKS_EACH blocks */
};

struct cache {
	struct cache_header *header;
	uint32_t shards;
	uint32_t index_mask;		/* of a shard */
	struct cache_slot *slots;	/* from 1 */
	uint32_t entries;
	_Atomic uint32_t *links;	/* next block of each, from 1 */
	_Atomic uint64_t (*blocks)[CACHE_BLOCK_WORDS];
	uint32_t block_count;
	struct cache_shard shard[CACHE_SHARDS];
};

/* Of a name, for all that is kept under it. */
uint64_t cache_name_hash(const struct cache *cache,
    const struct dns_name *name);

uint64_t cache_hash(uint64_t name_hash, const struct cache_key *key,
    enum cache_use use);

uint32_t cache_shard_of(const struct cache *cache, uint64_t name_hash);

/*
 * Copies so many octets of a slot's message, and up to 31 behind them.  False: what
 * is being written meanwhile makes no sense.
 */
bool cache_copy_blocks(const struct cache *cache, uint32_t block,
    size_t length, uint8_t buf[static CACHE_MESSAGE_MAX]);

uint8_t cache_key_flags(const struct cache_key *key);

/* Where the slots of a cache of so many answers begin. */
size_t cache_slots_offset(uint32_t entries);

#endif
