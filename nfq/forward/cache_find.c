/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers' side: any thread, no lock. */
#include "nfq/forward/cache_state.h"

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
cache_hash(const struct cache *cache, const struct cache_key *key,
    enum cache_use use)
{
	uint8_t octets[NAME_MAX_OCTETS + 4];
	size_t n = key->name->length;
	uint16_t type = use == USE_NAME ? 0 : key->type;

	memcpy(octets, key->name->octets, n);
	octets[n] = (uint8_t)(type >> 8);
	octets[n + 1] = (uint8_t)type;
	octets[n + 2] = cache_key_flags(key);
	octets[n + 3] = (uint8_t)use;
	return XXH3_64bits_withSecret(octets, n + 4, cache->header->secret,
	    CACHE_SECRET);
}

/* Copies a slot's message.  False: it is being written, and makes no sense. */
static bool
copy_blocks(const struct cache *cache, uint32_t block, size_t length,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	if (length > CACHE_MESSAGE_MAX)
		return false;
	for (size_t at = 0; at < length; at += CACHE_BLOCK) {
		size_t n = length - at < CACHE_BLOCK ? length - at :
		    CACHE_BLOCK;

		if (block == 0 || block > cache->block_count)
			return false;
		memcpy(buf + at, cache->blocks[block], n);
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
	    copy_blocks(cache, slot->block, entry->length, buf);
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
    enum cache_use use, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX], bool *changed)
{
	uint64_t hash = cache_hash(cache, key, use);
	uint32_t slot = atomic_load_explicit(
	    &cache->index[hash & cache->index_mask], memory_order_acquire);

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
    enum cache_use use, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	bool changed = true;

	for (int i = 0; i < TRIES && changed; i++)
		if (look(cache, key, use, entry, buf, &changed))
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

static bool
is_stale(const struct cache_entry *entry, monotime_t now, uint32_t stale_s)
{
	return entry->kind == CACHE_POSITIVE &&
	    monotime_ms_since(now, entry->expires) < (int64_t)stale_s * 1000;
}

bool
cache_find(struct cache *cache, monotime_t now, const struct cache_key *key,
    uint32_t stale_s, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX])
{
	bool stale, found;

	found = find_use(cache, key, USE_ANSWER, entry, buf);
	stale = found && is_stale(entry, now, stale_s);
	found = found && !monotime_is_past(now, entry->expires);
	if (!found) {
		found = find_use(cache, key, USE_NAME, entry, buf) &&
		    !monotime_is_past(now, entry->expires);
		if (!found && stale)
			found = find_use(cache, key, USE_ANSWER, entry, buf);
		else if (!found)
			found = find_use(cache, key, USE_FAILURE, entry, buf) &&
			    !monotime_is_past(now, entry->expires);
	}
	return found;
}
