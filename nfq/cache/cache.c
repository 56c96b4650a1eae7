/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writers' side, and what opens the memory. */
#include "nfq/cache/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nfq/cache/cache_state.h"
#include "resolver/dns/message.h"

#define MAGIC		UINT64_C(0x6e66646e73633035)	/* changes with the layout */
#define FLUSHED_LOCKED	256	/* entries looked at before others may write */

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

/* A cache of few entries is not divided: each shard takes a large message. */
static uint32_t
shards_of(uint32_t entries)
{
	uint32_t shards = CACHE_SHARDS;

	while (shards > 1 && entries / shards < CACHE_SHARD_ENTRIES)
		shards /= 2;
	return shards;
}

static void
place_shards(struct cache *c, _Atomic uint32_t *index)
{
	const uint32_t chains = index_size(c->entries) / c->shards;

	c->index_mask = chains - 1;
	for (uint32_t i = 0; i < c->shards; i++)
		c->shard[i] = (struct cache_shard){
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.lists = &c->header->lists[i],
			.index = index + (size_t)i * chains,
			.first = (uint32_t)((uint64_t)i * c->entries /
			    c->shards) + 1,
			.last = (uint32_t)((i + UINT64_C(1)) * c->entries /
			    c->shards),
		};
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

static _Atomic uint32_t *
chain_of(const struct cache *c, const struct cache_shard *shard,
    uint64_t hash)
{
	return &shard->index[hash & c->index_mask];
}

static uint32_t
first_block(const struct cache_shard *shard)
{
	return (shard->first - 1) * CACHE_BLOCKS_EACH + 1;
}

static uint32_t
last_block(const struct cache_shard *shard)
{
	return shard->last * CACHE_BLOCKS_EACH;
}

static uint32_t
shard_blocks(const struct cache_shard *shard)
{
	return last_block(shard) - first_block(shard) + 1;
}

/* Marks a kept slot's blocks as its own.  False: they cannot be. */
static bool
claim_blocks(const struct cache *c, const struct cache_shard *shard,
    const struct cache_slot *slot, uint8_t *claimed)
{
	uint32_t block = slot->block, n = blocks_of(slot->length);

	for (uint32_t i = 0; i < n; i++) {
		if (block < first_block(shard) || block > last_block(shard) ||
		    claimed[block])
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
link_slot(struct cache *c, struct cache_shard *shard, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];
	_Atomic uint32_t *head = chain_of(c, shard, slot->hash);

	atomic_store_explicit(&slot->next, atomic_load_explicit(head,
	    memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(head, number, memory_order_release);
}

static void
free_slot(struct cache *c, struct cache_lists *lists, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];

	slot->taken = 0;
	atomic_store_explicit(&slot->next, lists->free_slot,
	    memory_order_release);
	lists->free_slot = number;
}

static void
free_block(struct cache *c, struct cache_lists *lists, uint32_t block)
{
	c->links[block] = lists->free_block;
	lists->free_block = block;
}

/*
 * Makes chains and lists of what the slots say: of a new memory, and of one
 * whose writers may have died at any moment.
 */
static void
rebuild_shard(struct cache *c, struct cache_shard *shard, uint8_t *claimed)
{
	struct cache_lists *l = shard->lists;

	l->free_slot = l->free_block = l->used = l->blocks_used = l->hand = 0;
	l->octets = 0;
	for (uint32_t i = shard->last; i >= shard->first; i--) {
		struct cache_slot *slot = &c->slots[i];

		if (is_whole(slot) && claim_blocks(c, shard, slot, claimed)) {
			link_slot(c, shard, i);
			l->used++;
			l->octets += slot->length;
			continue;
		}
		slot->sequence = (slot->sequence + 1) & ~1U;
		free_slot(c, l, i);
	}
	for (uint32_t i = last_block(shard); i >= first_block(shard); i--)
		if (claimed[i])
			l->blocks_used++;
		else
			free_block(c, l, i);
}

struct cache *
cache_open(void *memory, uint32_t entries,
    const uint8_t secret[static CACHE_SECRET])
{
	struct cache *c = calloc(1, sizeof(*c));
	uint8_t *claimed = calloc((size_t)entries * CACHE_BLOCKS_EACH + 1, 1);
	uint8_t *const octets = memory;
	struct layout l;

	if (c == NULL || claimed == NULL) {
		free(c);
		free(claimed);
		return NULL;
	}
	l = layout_of(entries);
	c->header = memory;
	c->slots = (void *)(octets + l.slots);
	c->entries = entries;
	c->links = (void *)(octets + l.links);
	c->blocks = (void *)(octets + l.blocks);
	c->block_count = entries * CACHE_BLOCKS_EACH;
	c->shards = shards_of(entries);
	place_shards(c, (void *)(octets + l.index));
	if (c->header->magic != MAGIC || c->header->entries != entries) {
		memset(c->header, 0, sizeof(*c->header));
		memset(c->slots, 0, ((size_t)entries + 1) * sizeof(*c->slots));
		memcpy(c->header->secret, secret, CACHE_SECRET);
		c->header->entries = entries;
		c->header->magic = MAGIC;
	}
	memset(c->shard[0].index, 0,
	    index_size(c->entries) * sizeof(*c->shard[0].index));
	for (uint32_t i = 0; i < c->shards; i++)
		rebuild_shard(c, &c->shard[i], claimed);
	free(claimed);
	return c;
}

void
cache_close(struct cache *c)
{
	for (uint32_t i = 0; c != NULL && i < c->shards; i++)
		(void)pthread_mutex_destroy(&c->shard[i].lock);
	free(c);
}

static void
unlink_slot(struct cache *c, struct cache_shard *shard, uint32_t number)
{
	uint32_t next = atomic_load(&c->slots[number].next);
	_Atomic uint32_t *at = chain_of(c, shard, c->slots[number].hash);

	while (atomic_load(at) != number) {
		assert(atomic_load(at) != 0);
		at = &c->slots[atomic_load(at)].next;
	}
	atomic_store_explicit(at, next, memory_order_release);
}

static void
free_blocks(struct cache *c, struct cache_lists *lists, uint32_t block,
    uint32_t n)
{
	for (; n > 0; n--) {
		uint32_t next = c->links[block];

		free_block(c, lists, block);
		lists->blocks_used--;
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

/* Takes a slot out of its chain and frees its blocks. */
static void
remove_slot(struct cache *c, struct cache_shard *shard, uint32_t number)
{
	struct cache_slot *slot = &c->slots[number];

	unlink_slot(c, shard, number);
	begin_write(slot);
	free_blocks(c, shard->lists, slot->block, blocks_of(slot->length));
	shard->lists->used--;
	shard->lists->octets -= slot->length;
	free_slot(c, shard->lists, number);
	end_write(slot);
}

/* One step of the clock: what was not used since its last round goes. */
static void
evict(struct cache *c, struct cache_shard *shard)
{
	struct cache_lists *l = shard->lists;

	for (;;) {
		struct cache_slot *slot;
		uint8_t referenced;

		l->hand = l->hand < shard->first || l->hand >= shard->last ?
		    shard->first : l->hand + 1;
		slot = &c->slots[l->hand];
		if (!slot->taken)
			continue;
		referenced = atomic_load_explicit(&slot->referenced,
		    memory_order_relaxed);
		if (referenced == 0)
			break;
		atomic_store_explicit(&slot->referenced,
		    (uint8_t)(referenced - 1), memory_order_relaxed);
	}
	l->evicted++;
	remove_slot(c, shard, l->hand);
}

/* A key and the shard of its name, whose lock is held. */
struct place {
	const struct cache_key *key;
	uint64_t name_hash;
	struct cache_shard *shard;
};

static struct place
place_of(struct cache *c, const struct cache_key *key)
{
	const uint64_t hash = cache_name_hash(c, key->name);

	return (struct place){ .key = key, .name_hash = hash,
		.shard = &c->shard[cache_shard_of(c, hash)] };
}

static uint32_t
slot_for(struct cache *c, const struct place *p, enum cache_use use)
{
	uint64_t hash = cache_hash(p->name_hash, p->key, use);
	uint32_t number = atomic_load(chain_of(c, p->shard, hash));

	for (; number != 0; number = atomic_load(&c->slots[number].next)) {
		const struct cache_slot *slot = &c->slots[number];

		/* 64 bits of a keyed hash: who shares them is replaced. */
		if (slot->hash == hash && slot->use == use)
			return number;
	}
	return 0;
}

static void
drop(struct cache *c, const struct place *p, enum cache_use use)
{
	uint32_t number = slot_for(c, p, use);

	if (number != 0)
		remove_slot(c, p->shard, number);
}

static void
write_block(_Atomic uint64_t *block, const uint8_t *octets, size_t length)
{
	uint64_t words[CACHE_BLOCK_WORDS];

	memcpy(words, octets, length);
	for (size_t i = 0; i * sizeof(*words) < length; i++)
		atomic_store_explicit(&block[i], words[i],
		    memory_order_relaxed);
}

static uint32_t
take_blocks(struct cache *c, struct cache_lists *l, const uint8_t *message,
    size_t length)
{
	uint32_t first = 0, last = 0;

	for (size_t at = 0; at < length; at += CACHE_BLOCK) {
		uint32_t block = l->free_block;

		l->free_block = c->links[block];
		l->blocks_used++;
		write_block(c->blocks[block], message + at,
		    length - at < CACHE_BLOCK ? length - at : CACHE_BLOCK);
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

/* Whether another answer has been stored since this one was asked for. */
static bool
stands(struct cache *c, const struct place *p, monotime_t now,
    monotime_t asked)
{
	const enum cache_use uses[] = { USE_ANSWER, USE_NAME };

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		const uint32_t number = slot_for(c, p, uses[i]);
		const struct cache_slot *slot = &c->slots[number];

		if (number != 0 && now.ns < slot->expires)
			return slot->stored > asked.ns;
	}
	return false;
}

/* Removes what the new entry replaces, or shows to be wrong. */
static void
make_room(struct cache *c, const struct place *p, enum cache_use use,
    size_t length)
{
	struct cache_lists *l = p->shard->lists;
	uint32_t before = l->used;

	drop(c, p, use);
	l->replaced += before - l->used;
	if (use != USE_FAILURE) {
		drop(c, p, USE_FAILURE);
		drop(c, p, use == USE_NAME ? USE_ANSWER : USE_NAME);
	}
	while (l->free_slot == 0 ||
	    shard_blocks(p->shard) - l->blocks_used < blocks_of(length))
		evict(c, p->shard);
}

static void
write_slot(struct cache *c, const struct place *p, struct cache_slot *slot,
    monotime_t now, const struct cache_answer *answer)
{
	const enum cache_use use = use_of(answer->kind);

	begin_write(slot);
	slot->hash = cache_hash(p->name_hash, p->key, use);
	slot->stored = now.ns;
	slot->expires = monotime_add_ms(now, (int64_t)answer->ttl_s * 1000).ns;
	atomic_store_explicit(&slot->retry, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->retry_s, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->hits, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->prefetched, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->referenced, 0, memory_order_relaxed);
	slot->block = take_blocks(c, p->shard->lists, answer->message,
	    answer->length);
	slot->length = (uint16_t)answer->length;
	slot->type = p->key->type;
	slot->kind = (uint8_t)answer->kind;
	slot->use = (uint8_t)use;
	slot->key_flags = cache_key_flags(p->key);
	slot->taken = 1;
	end_write(slot);
}

static void
store(struct cache *c, const struct place *p, monotime_t now,
    const struct cache_answer *answer)
{
	struct cache_lists *l = p->shard->lists;
	uint32_t number;

	make_room(c, p, use_of(answer->kind), answer->length);
	number = l->free_slot;
	l->free_slot = atomic_load(&c->slots[number].next);
	write_slot(c, p, &c->slots[number], now, answer);
	link_slot(c, p->shard, number);
	l->used++;
	l->stored++;
	l->octets += answer->length;
}

void
cache_store(struct cache *c, monotime_t now,
    const struct cache_answer *answer)
{
	const struct place p = place_of(c, &answer->key);

	if (answer->length < DNS_HEADER || answer->length > CACHE_MESSAGE_MAX ||
	    answer->ttl_s == 0 ||
	    blocks_of(answer->length) > shard_blocks(p.shard))
		return;
	(void)pthread_mutex_lock(&p.shard->lock);
	if (cache_generation(c) == answer->generation &&
	    (answer->kind == CACHE_FAILURE ||
	    !stands(c, &p, now, answer->asked)))
		store(c, &p, now, answer);
	(void)pthread_mutex_unlock(&p.shard->lock);
}

static struct cache_shard *
shard_with(struct cache *c, uint32_t slot)
{
	uint32_t i = (uint32_t)((slot - UINT64_C(1)) * c->shards / c->entries);

	/* The shards' ends are rounded down, too. */
	return &c->shard[slot > c->shard[i].last ? i + 1 : i];
}

/* The slot of what was found, with its shard locked; NULL: it is gone. */
static struct cache_slot *
hold_slot(struct cache *c, const struct cache_entry *entry)
{
	struct cache_slot *slot = &c->slots[entry->place];
	struct cache_shard *shard;

	if (entry->place == 0 || entry->place > c->entries)
		return NULL;
	shard = shard_with(c, entry->place);
	(void)pthread_mutex_lock(&shard->lock);
	if (atomic_load(&slot->sequence) == entry->sequence)
		return slot;
	(void)pthread_mutex_unlock(&shard->lock);
	return NULL;
}

static void
release_slot(struct cache *c, const struct cache_entry *entry)
{
	(void)pthread_mutex_unlock(&shard_with(c, entry->place)->lock);
}

void
cache_retry(struct cache *c, const struct cache_entry *entry,
    monotime_t retry, uint32_t retry_s)
{
	struct cache_slot *slot = hold_slot(c, entry);

	if (slot == NULL)
		return;
	atomic_store_explicit(&slot->retry, retry.ns, memory_order_relaxed);
	atomic_store_explicit(&slot->retry_s, retry_s, memory_order_relaxed);
	release_slot(c, entry);
}

void
cache_mark_prefetched(struct cache *c, const struct cache_entry *entry)
{
	struct cache_slot *slot = hold_slot(c, entry);

	if (slot == NULL)
		return;
	atomic_store_explicit(&slot->prefetched, 1, memory_order_relaxed);
	release_slot(c, entry);
}

/* The name that a slot's message has in its question. */
static bool
slot_name(const struct cache *c, const struct cache_slot *slot,
    struct dns_name *name)
{
	uint8_t octets[CACHE_MESSAGE_MAX];
	const size_t most = (size_t)2 * CACHE_BLOCK;
	const size_t n = slot->length < most ? slot->length : most;

	return cache_copy_blocks(c, slot->block, n, octets) &&
	    name_read_lower(name, octets + DNS_HEADER, n - DNS_HEADER) == 0;
}

/* Looks at slots of one shard. */
static uint32_t
flush_slots(struct cache *c, struct cache_shard *shard, uint32_t first,
    uint32_t last, const struct dns_name *name, bool below)
{
	struct dns_name own;
	uint32_t count = 0;

	(void)pthread_mutex_lock(&shard->lock);
	for (uint32_t i = first; i <= last; i++) {
		if (!c->slots[i].taken || !slot_name(c, &c->slots[i], &own))
			continue;
		if (below ? !name_is_within(&own, name) :
		    !name_equal(&own, name))
			continue;
		remove_slot(c, shard, i);
		count++;
	}
	shard->lists->flushed += count;
	(void)pthread_mutex_unlock(&shard->lock);
	return count;
}

uint32_t
cache_flush_part(struct cache *c, const struct dns_name *name, bool below,
    uint32_t *place, uint32_t most)
{
	const uint32_t left = *place < c->entries ? c->entries - *place : 0;
	const uint32_t end = *place + (left < most ? left : most);
	uint32_t count = 0, next;

	for (uint32_t i = *place + 1; i <= end; i = next) {
		struct cache_shard *shard = shard_with(c, i);
		const uint32_t last = shard->last < end ? shard->last : end;

		next = last - i < FLUSHED_LOCKED ? last + 1 :
		    i + FLUSHED_LOCKED;
		count += flush_slots(c, shard, i, next - 1, name, below);
	}
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
cache_stats(struct cache *c, struct cache_stats *stats)
{
	const struct cache_header *h = c->header;

	*stats = (struct cache_stats){ .hits = atomic_load(&h->hits),
		.misses = atomic_load(&h->misses), .entries_max = c->entries };
	for (uint32_t i = 0; i < c->shards; i++) {
		const struct cache_lists *l = c->shard[i].lists;

		(void)pthread_mutex_lock(&c->shard[i].lock);
		stats->stored += l->stored;
		stats->replaced += l->replaced;
		stats->evicted += l->evicted;
		stats->flushed += l->flushed;
		stats->entries += l->used;
		stats->octets += l->octets;
		(void)pthread_mutex_unlock(&c->shard[i].lock);
	}
}
