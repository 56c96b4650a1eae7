/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer's side, and what opens the memory. */
#include "nfq/forward/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/forward/cache_state.h"
#include "resolver/dns/message.h"

#define MAGIC		UINT64_C(0x6e66646e73633033)	/* changes with the layout */

static uint32_t
index_size(uint32_t entries)
{
	uint32_t size = 16;

	while (size < entries)
		size *= 2;
	return size;
}

static size_t
align(size_t octets)
{
	return (octets + 63) / 64 * 64;
}

/* Offsets of the parts. */
struct layout {
	size_t index, slots, links, blocks, end;
};

static struct layout
layout_of(uint32_t entries)
{
	size_t blocks = (size_t)entries * CACHE_BLOCKS_EACH;
	struct layout l;

	l.index = align(sizeof(struct cache_header));
	l.slots = l.index + align(index_size(entries) * sizeof(uint32_t));
	l.links = l.slots +
	    align(((size_t)entries + 1) * sizeof(struct cache_slot));
	l.blocks = l.links + align((blocks + 1) * sizeof(uint32_t));
	l.end = l.blocks + (blocks + 1) * CACHE_BLOCK;
	return l;
}

static void
place_parts(struct cache *c, uint8_t *memory, uint32_t entries)
{
	const struct layout l = layout_of(entries);

	c->header = (void *)memory;
	c->index = (void *)(memory + l.index);
	c->index_mask = index_size(entries) - 1;
	c->slots = (void *)(memory + l.slots);
	c->entries = entries;
	c->links = (void *)(memory + l.links);
	c->blocks = (void *)(memory + l.blocks);
	c->block_count = entries * CACHE_BLOCKS_EACH;
}

size_t
cache_slots_offset(uint32_t entries)
{
	return layout_of(entries).slots;
}

size_t
cache_octets(uint32_t entries)
{
	return layout_of(entries).end;
}

static uint32_t
blocks_of(size_t length)
{
	return (uint32_t)((length + CACHE_BLOCK - 1) / CACHE_BLOCK);
}

static uint32_t
bucket_of(const struct cache *c, uint64_t hash)
{
	return (uint32_t)(hash & c->index_mask);
}

/* Marks a kept slot's blocks as its own.  False: they cannot be. */
static bool
claim_blocks(const struct cache *c, const struct cache_slot *slot,
    uint8_t *claimed)
{
	uint32_t block = slot->block, n = blocks_of(slot->length);

	for (uint32_t i = 0; i < n; i++) {
		if (block == 0 || block > c->block_count || claimed[block])
			return false;
		claimed[block] = 1;
		block = c->links[block];
	}
	return true;
}

static bool
is_whole(const struct cache_slot *slot)
{
	return (slot->sequence & 1) == 0 && slot->taken == 1 &&
	    slot->length >= DNS_HEADER && slot->length <= CACHE_MESSAGE_MAX &&
	    slot->kind < CACHE_KINDS;
}

static void
link_slot(struct cache *c, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];
	_Atomic uint32_t *head = &c->index[bucket_of(c, slot->hash)];

	atomic_store_explicit(&slot->next, atomic_load_explicit(head,
	    memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(head, number, memory_order_release);
}

static void
free_slot(struct cache *c, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];

	slot->taken = 0;
	atomic_store_explicit(&slot->next, c->header->free_slot,
	    memory_order_release);
	c->header->free_slot = number;
}

/* Moves a slot's times.  False: they are no times. */
static bool
shift_slot(struct cache_slot *slot, int64_t shift)
{
	int64_t retry = slot->retry, stored = slot->stored,
	    expires = slot->expires;

	if ((retry != 0 && __builtin_add_overflow(retry, shift, &retry)) ||
	    __builtin_add_overflow(stored, shift, &stored) ||
	    __builtin_add_overflow(expires, shift, &expires))
		return false;
	slot->retry = retry;
	slot->stored = stored;
	slot->expires = expires;
	return true;
}

/*
 * Makes chains and lists of what the slots say: of a new memory, and of one
 * whose writer may have died at any moment.
 */
static void
rebuild(struct cache *c, uint8_t *claimed)
{
	struct cache_header *h = c->header;

	memset(c->index, 0, ((size_t)c->index_mask + 1) * sizeof(*c->index));
	h->free_slot = h->free_block = h->used = h->blocks_used = h->hand = 0;
	h->octets = 0;
	for (uint32_t i = c->entries; i > 0; i--) {
		struct cache_slot *slot = &c->slots[i];

		if (is_whole(slot) && shift_slot(slot, h->shift) &&
		    claim_blocks(c, slot, claimed)) {
			link_slot(c, i);
			h->used++;
			h->octets += slot->length;
			continue;
		}
		slot->sequence = (slot->sequence + 1) & ~1U;
		free_slot(c, i);
	}
	h->shift = 0;
	for (uint32_t i = c->block_count; i > 0; i--) {
		if (claimed[i]) {
			h->blocks_used++;
			continue;
		}
		c->links[i] = h->free_block;
		h->free_block = i;
	}
}

struct cache *
cache_open(void *memory, uint32_t entries,
    const uint8_t secret[static CACHE_SECRET])
{
	struct cache *c = calloc(1, sizeof(*c));
	uint8_t *claimed = calloc((size_t)entries * CACHE_BLOCKS_EACH + 1, 1);

	if (c == NULL || claimed == NULL) {
		free(c);
		free(claimed);
		return NULL;
	}
	place_parts(c, memory, entries);
	if (c->header->magic != MAGIC || c->header->entries != entries) {
		memset(c->header, 0, sizeof(*c->header));
		memset(c->slots, 0, ((size_t)entries + 1) * sizeof(*c->slots));
		memcpy(c->header->secret, secret, CACHE_SECRET);
		c->header->entries = entries;
		c->header->magic = MAGIC;
	}
	rebuild(c, claimed);
	free(claimed);
	return c;
}

void
cache_close(struct cache *c)
{
	free(c);
}

static void
unlink_slot(struct cache *c, uint32_t number)
{
	uint32_t next = atomic_load(&c->slots[number].next);
	_Atomic uint32_t *at = &c->index[bucket_of(c, c->slots[number].hash)];

	while (atomic_load(at) != number) {
		assert(atomic_load(at) != 0);
		at = &c->slots[atomic_load(at)].next;
	}
	atomic_store_explicit(at, next, memory_order_release);
}

static void
free_blocks(struct cache *c, uint32_t block, uint32_t n)
{
	for (; n > 0; n--) {
		uint32_t next = c->links[block];

		c->links[block] = c->header->free_block;
		c->header->free_block = block;
		c->header->blocks_used--;
		block = next;
	}
}

static void
begin_write(struct cache_slot *slot)
{
	atomic_fetch_add_explicit(&slot->sequence, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void
end_write(struct cache_slot *slot)
{
	atomic_fetch_add_explicit(&slot->sequence, 1, memory_order_release);
}

void
cache_remove(struct cache *c, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];

	unlink_slot(c, number);
	begin_write(slot);
	free_blocks(c, slot->block, blocks_of(slot->length));
	c->header->used--;
	c->header->octets -= slot->length;
	free_slot(c, number);
	end_write(slot);
}

/* One step of the clock: what was not used since its last round goes. */
static void
evict(struct cache *c)
{
	struct cache_header *h = c->header;

	for (;;) {
		struct cache_slot *slot;
		uint8_t referenced;

		h->hand = h->hand % c->entries + 1;
		slot = &c->slots[h->hand];
		if (!slot->taken)
			continue;
		referenced = atomic_load_explicit(&slot->referenced,
		    memory_order_relaxed);
		if (referenced == 0)
			break;
		atomic_store_explicit(&slot->referenced,
		    (uint8_t)(referenced - 1), memory_order_relaxed);
	}
	h->evicted++;
	cache_remove(c, h->hand);
}

static uint32_t
slot_for(struct cache *c, const struct cache_key *key, enum cache_use use)
{
	uint64_t hash = cache_hash(c, key, use);
	uint32_t number = atomic_load(&c->index[bucket_of(c, hash)]);

	for (; number != 0; number = atomic_load(&c->slots[number].next)) {
		const struct cache_slot *slot = &c->slots[number];

		/* 64 bits of a keyed hash: who shares them is replaced. */
		if (slot->hash == hash && slot->use == use)
			return number;
	}
	return 0;
}

static void
drop(struct cache *c, const struct cache_key *key, enum cache_use use)
{
	uint32_t number = slot_for(c, key, use);

	if (number != 0)
		cache_remove(c, number);
}

static uint32_t
take_blocks(struct cache *c, const uint8_t *message, size_t length)
{
	uint32_t first = 0, last = 0;

	for (size_t at = 0; at < length; at += CACHE_BLOCK) {
		size_t n = length - at < CACHE_BLOCK ? length - at :
		    CACHE_BLOCK;
		uint32_t block = c->header->free_block;

		c->header->free_block = c->links[block];
		c->header->blocks_used++;
		memcpy(c->blocks[block], message + at, n);
		if (last == 0)
			first = block;
		else
			c->links[last] = block;
		last = block;
	}
	if (last != 0)
		c->links[last] = 0;
	return first;
}

static enum cache_use
use_of(enum cache_kind kind)
{
	return kind == CACHE_NXDOMAIN ? USE_NAME :
	    kind == CACHE_FAILURE ? USE_FAILURE : USE_ANSWER;
}

/* Removes what the new entry replaces, or shows to be wrong. */
static void
make_room(struct cache *c, const struct cache_key *key, enum cache_use use,
    size_t length)
{
	struct cache_header *h = c->header;
	uint32_t before = h->used;

	drop(c, key, use);
	h->replaced += before - h->used;
	if (use != USE_FAILURE) {
		drop(c, key, USE_FAILURE);
		drop(c, key, use == USE_NAME ? USE_ANSWER : USE_NAME);
	}
	while (h->free_slot == 0 ||
	    c->block_count - h->blocks_used < blocks_of(length))
		evict(c);
}

void
cache_store(struct cache *c, monotime_t now, const struct cache_key *key,
    enum cache_kind kind, uint32_t ttl_s, const uint8_t *message,
    size_t length)
{
	enum cache_use use = use_of(kind);
	struct cache_slot *slot;
	uint32_t number;

	if (length < DNS_HEADER || length > CACHE_MESSAGE_MAX || ttl_s == 0 ||
	    blocks_of(length) > c->block_count)
		return;
	make_room(c, key, use, length);
	number = c->header->free_slot;
	slot = &c->slots[number];
	c->header->free_slot = atomic_load(&slot->next);
	begin_write(slot);
	slot->hash = cache_hash(c, key, use);
	slot->stored = now.ns;
	slot->expires = monotime_add_ms(now, (int64_t)ttl_s * 1000).ns;
	atomic_store_explicit(&slot->retry, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->retry_s, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->hits, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->prefetched, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->referenced, 0, memory_order_relaxed);
	slot->block = take_blocks(c, message, length);
	slot->length = (uint16_t)length;
	slot->type = key->type;
	slot->kind = (uint8_t)kind;
	slot->use = (uint8_t)use;
	slot->key_flags = cache_key_flags(key);
	slot->taken = 1;
	end_write(slot);
	link_slot(c, number);
	c->header->used++;
	c->header->stored++;
	c->header->octets += length;
}

static struct cache_slot *
slot_of(struct cache *c, const struct cache_entry *entry)
{
	struct cache_slot *slot = &c->slots[entry->place];

	return entry->place != 0 && entry->place <= c->entries &&
	    atomic_load(&slot->sequence) == entry->sequence ? slot : NULL;
}

void
cache_retry(struct cache *c, const struct cache_entry *entry,
    monotime_t retry, uint32_t retry_s)
{
	struct cache_slot *slot = slot_of(c, entry);

	if (slot == NULL)
		return;
	atomic_store_explicit(&slot->retry, retry.ns, memory_order_relaxed);
	atomic_store_explicit(&slot->retry_s, retry_s, memory_order_relaxed);
}

void
cache_mark_prefetched(struct cache *c, const struct cache_entry *entry)
{
	struct cache_slot *slot = slot_of(c, entry);

	if (slot != NULL)
		atomic_store_explicit(&slot->prefetched, 1,
		    memory_order_relaxed);
}

/* The name that a slot's message has in its question. */
static bool
slot_name(const struct cache *c, const struct cache_slot *slot,
    struct dns_name *name)
{
	uint8_t octets[2 * CACHE_BLOCK];
	uint32_t next = c->links[slot->block];
	size_t n = slot->length < sizeof(octets) ? slot->length :
	    sizeof(octets);

	memcpy(octets, c->blocks[slot->block], n < CACHE_BLOCK ? n :
	    CACHE_BLOCK);
	if (n > CACHE_BLOCK)
		memcpy(octets + CACHE_BLOCK, c->blocks[next], n - CACHE_BLOCK);
	return name_read_lower(name, octets + DNS_HEADER, n - DNS_HEADER) == 0;
}

uint32_t
cache_flush_part(struct cache *c, const struct dns_name *name, bool below,
    uint32_t *place, uint32_t most)
{
	const uint32_t left = *place < c->entries ? c->entries - *place : 0;
	const uint32_t end = *place + (left < most ? left : most);
	uint32_t count = 0;
	struct dns_name own;

	for (uint32_t i = *place + 1; i <= end; i++) {
		if (!c->slots[i].taken || !slot_name(c, &c->slots[i], &own))
			continue;
		if (below ? !name_is_within(&own, name) :
		    !name_equal(&own, name))
			continue;
		cache_remove(c, i);
		count++;
	}
	c->header->flushed += count;
	*place = end < c->entries ? end : 0;
	return count;
}

uint32_t
cache_flush(struct cache *c, const struct dns_name *name, bool below)
{
	uint32_t place = 0;

	return cache_flush_part(c, name, below, &place, c->entries);
}

bool
cache_walk(struct cache *c, uint32_t *place, struct cache_key *key,
    struct dns_name *name, struct cache_entry *entry)
{
	while (++*place <= c->entries) {
		const struct cache_slot *slot = &c->slots[*place];

		if (!slot->taken || !slot_name(c, slot, name))
			continue;
		*key = (struct cache_key){ .name = name, .type = slot->type,
			.dnssec_ok = (slot->key_flags & 1) != 0,
			.checking_disabled = (slot->key_flags & 2) != 0 };
		*entry = (struct cache_entry){
			.kind = (enum cache_kind)slot->kind,
			.stored = { slot->stored },
			.expires = { slot->expires },
			.retry = { atomic_load(&slot->retry) },
			.retry_s = atomic_load(&slot->retry_s),
			.hits = atomic_load(&slot->hits),
			.prefetched = atomic_load(&slot->prefetched) != 0,
			.place = *place, .length = slot->length,
			.sequence = atomic_load(&slot->sequence) };
		return true;
	}
	return false;
}

uint64_t
cache_generation(const struct cache *c)
{
	return atomic_load_explicit(&c->header->generation,
	    memory_order_acquire);
}

void
cache_set_generation(struct cache *c, uint64_t generation)
{
	atomic_store_explicit(&c->header->generation, generation,
	    memory_order_release);
}

void
cache_stats(const struct cache *c, struct cache_stats *stats)
{
	const struct cache_header *h = c->header;

	*stats = (struct cache_stats){ .stored = h->stored,
		.replaced = h->replaced, .evicted = h->evicted,
		.flushed = h->flushed, .hits = atomic_load(&h->hits),
		.misses = atomic_load(&h->misses), .entries = h->used,
		.entries_max = c->entries, .octets = h->octets };
}
