/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers' side: any thread, no lock; and the hashes of both sides. */
#include "nfq/cache/cache_state.h"

#include <string.h>

#include <xxhash.h>

#include "resolver/dns/message.h"

#define CHAIN_MAX	64	/* slots looked at; a chain changes meanwhile */
#define TRIES		4	/* to read what is being written */
#define REFERENCED_MAX	3

_Static_assert(CACHE_SECRET >= XXH3_SECRET_SIZE_MIN, "the hash's secret");

uint8_t
cache_key_flags(const struct cache_key *key)
{
	return (uint8_t)(key->dnssec_ok | key->checking_disabled << 1);
}

uint64_t
cache_name_hash(const struct cache *cache, const struct dns_name *name)
{
	return XXH3_64bits_withSecret(name->octets, name->length,
	    cache->header->secret, CACHE_SECRET);
}

/*
 * The factor is odd, so that what is kept under one name lies in as many chains as
 * it has types.
 */
uint64_t
cache_hash(uint64_t name_hash, const struct cache_key *key,
    enum cache_use use)
{
	const uint64_t type = use == USE_NAME ? 0 : key->type;

	return name_hash + (type | (uint64_t)cache_key_flags(key) << 16 |
	    (uint64_t)use << 24) * UINT64_C(0x9e3779b97f4a7c15);
}

/* By other bits than its chains. */
uint32_t
cache_shard_of(const struct cache *cache, uint64_t name_hash)
{
	return (uint32_t)(name_hash >> 32) & (cache->shards - 1);
}

static uint64_t
word_at(const _Atomic uint64_t *block, size_t number)
{
	return atomic_load_explicit(&block[number], memory_order_relaxed);
}

/* Four words at a time take half of the instructions. */
static void
read_block(const _Atomic uint64_t *block, uint8_t *to, size_t length)
{
	for (size_t i = 0; i * sizeof(*block) < length; i += 4) {
		const uint64_t words[4] = { word_at(block, i),
			word_at(block, i + 1), word_at(block, i + 2),
			word_at(block, i + 3) };

		memcpy(to + i * sizeof(*block), words, sizeof(words));
	}
}

bool
cache_copy_blocks(const struct cache *cache, uint32_t block, size_t length,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	if (length > CACHE_MESSAGE_MAX)
		return false;
	for (size_t at = 0; at < length; at += CACHE_BLOCK) {
		size_t n = length - at < CACHE_BLOCK ? length - at :
		    CACHE_BLOCK;

		if (block == 0 || block > cache->block_count)
			return false;
		read_block(cache->blocks[block], buf + at, n);
		block = cache->links[block];
	}
	return true;
}

static void
copy_entry(struct cache_slot *slot, uint32_t number,
    struct cache_entry *entry)
{
	*entry = (struct cache_entry){
		.kind = (enum cache_kind)slot->kind,
		.stored = { slot->stored }, .expires = { slot->expires },
		.retry = { atomic_load_explicit(&slot->retry,
		    memory_order_relaxed) },
		.retry_s = atomic_load_explicit(&slot->retry_s,
		    memory_order_relaxed),
		.hits = atomic_load_explicit(&slot->hits,
		    memory_order_relaxed) + 1,
		.prefetched = atomic_load_explicit(&slot->prefetched,
		    memory_order_relaxed) != 0,
		.place = number, .length = slot->length,
	};
}

enum seen { SEEN, OTHER, CHANGED };

/* Reads a slot if it is the one for the key. */
static enum seen
read_slot(const struct cache *cache, uint32_t number, uint64_t hash,
    const struct cache_key *key, enum cache_use use,
    struct cache_entry *entry, uint8_t buf[static CACHE_MESSAGE_MAX])
{
	struct cache_slot *slot = &cache->slots[number];
	uint32_t sequence = atomic_load_explicit(&slot->sequence,
	    memory_order_acquire);
	size_t name = key->name->length;
	bool fits;

	if ((sequence & 1) != 0)
		return CHANGED;
	if (slot->hash != hash || slot->use != use || !slot->taken)
		return OTHER;
	copy_entry(slot, number, entry);
	fits = (use == USE_NAME || slot->type == key->type) &&
	    slot->key_flags == cache_key_flags(key) &&
	    cache_copy_blocks(cache, slot->block, entry->length, buf);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) !=
	    sequence)
		return CHANGED;
	entry->sequence = sequence;
	return fits && entry->length >= DNS_HEADER + name + 4 &&
	    memcmp(buf + DNS_HEADER, key->name->octets, name) == 0 ?
	    SEEN : OTHER;
}

/* Looks once; *changed: something was being written, look again. */
static bool
look(const struct cache *cache, const struct cache_key *key,
    uint64_t name_hash, enum cache_use use, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX], bool *changed)
{
	const struct cache_shard *shard =
	    &cache->shard[cache_shard_of(cache, name_hash)];
	uint64_t hash = cache_hash(name_hash, key, use);
	uint32_t slot = atomic_load_explicit(
	    &shard->index[hash & cache->index_mask], memory_order_acquire);

	*changed = false;
	for (int i = 0; i < CHAIN_MAX && slot != 0 && slot <= cache->entries;
	    i++) {
		switch (read_slot(cache, slot, hash, key, use, entry, buf)) {
		case SEEN:
			return true;
		case CHANGED:
			*changed = true;
			break;
		case OTHER:
			break;
		}
		slot = atomic_load_explicit(&cache->slots[slot].next,
		    memory_order_acquire);
	}
	return false;
}

static bool
find_use(const struct cache *cache, const struct cache_key *key,
    uint64_t name_hash, enum cache_use use, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	bool changed = true;

	for (int i = 0; i < TRIES && changed; i++)
		if (look(cache, key, name_hash, use, entry, buf, &changed))
			return true;
	return false;
}

void
cache_count(struct cache *cache, const struct cache_entry *entry)
{
	struct cache_slot *slot;
	uint8_t referenced;

	if (entry == NULL) {
		atomic_fetch_add_explicit(&cache->header->misses, 1,
		    memory_order_relaxed);
		return;
	}
	slot = &cache->slots[entry->place];
	referenced = atomic_load_explicit(&slot->referenced,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&slot->hits, 1, memory_order_relaxed);
	if (referenced < REFERENCED_MAX)
		atomic_store_explicit(&slot->referenced,
		    (uint8_t)(referenced + 1), memory_order_relaxed);
	atomic_fetch_add_explicit(&cache->header->hits, 1,
	    memory_order_relaxed);
}

bool
cache_find(struct cache *cache, monotime_t now, const struct cache_key *key,
    uint32_t stale_s, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	const uint64_t hash = cache_name_hash(cache, key->name);
	bool stale, found;

	found = find_use(cache, key, hash, USE_ANSWER, entry, buf);
	stale = found && (entry->kind == CACHE_POSITIVE &&
	    monotime_ms_since(now, entry->expires) < (int64_t)stale_s * 1000);
	if (found && !monotime_is_past(now, entry->expires))
		return true;
	found = find_use(cache, key, hash, USE_NAME, entry, buf) &&
	    !monotime_is_past(now, entry->expires);
	if (!found && stale)
		return find_use(cache, key, hash, USE_ANSWER, entry, buf);
	return found || (find_use(cache, key, hash, USE_FAILURE, entry, buf) &&
	    !monotime_is_past(now, entry->expires));
}
