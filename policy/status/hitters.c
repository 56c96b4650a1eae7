/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/hitters.h"

#include <string.h>
#include <xxhash.h>

#define COUNT_MASK	((UINT64_C(1) << 48) - 1)
#define TRIES		8	/* of a reader, while a place changes hands */

static uint64_t
load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void
store(_Atomic uint64_t *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_relaxed);
}

void
hitters_clear(struct hitters_table *table)
{
	for (size_t set = 0; set < HITTERS_SETS; set++)
		for (size_t way = 0; way < HITTERS_WAYS; way++)
			store(&table->counts[set][way], 0);
}

/*
 * A reader that sees an even number before and the same behind its copy has seen
 * no half-written place.
 */
static void
take_over(struct hitters_table *t, unsigned int set, unsigned int way,
    uint64_t hash, const uint8_t *octets, size_t length)
{
	struct hitters_key *key = &t->keys[set][way];
	const uint32_t sequence = atomic_load_explicit(&key->sequence,
	    memory_order_relaxed);
	const uint64_t smallest = load(&t->counts[set][way]);

	atomic_store_explicit(&key->sequence, sequence | 1,
	    memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	store(&t->hashes[set][way], hash);
	key->length = (uint8_t)length;
	memcpy(key->octets, octets, length);
	store(&t->errors[set][way], smallest);
	store(&t->counts[set][way], smallest + 1);
	atomic_store_explicit(&key->sequence, (sequence | 1) + 1,
	    memory_order_release);
}

/* Equal hashes of different keys can be found by trying, without the secret. */
static bool
has_key(const struct hitters_key *key, const uint8_t *octets, size_t length)
{
	return key->length == length &&
	    memcmp(key->octets, octets, length) == 0;
}

static unsigned int
smallest_way(const struct hitters_table *t, unsigned int set)
{
	unsigned int smallest = 0;

	for (unsigned int way = 1; way < HITTERS_WAYS; way++)
		if (load(&t->counts[set][way]) <
		    load(&t->counts[set][smallest]))
			smallest = way;
	return smallest;
}

void
hitters_count(struct hitters_table *t, uint64_t secret, const uint8_t *octets,
    size_t length)
{
	const uint64_t hash = XXH3_64bits_withSeed(octets, length, secret);
	const unsigned int set = hitters_set(hash);

	for (unsigned int way = 0; way < HITTERS_WAYS; way++) {
		_Atomic uint64_t *count = &t->counts[set][way];

		if (load(&t->hashes[set][way]) == hash && load(count) != 0 &&
		    has_key(&t->keys[set][way], octets, length)) {
			store(count, load(count) + 1);
			return;
		}
	}
	take_over(t, set, smallest_way(t, set), hash, octets, length);
}

static void
copy_place(const struct hitters_table *t, unsigned int set, unsigned int way,
    struct hitters_place *place)
{
	const struct hitters_key *key = &t->keys[set][way];

	place->hash = load(&t->hashes[set][way]);
	place->count = load(&t->counts[set][way]) & COUNT_MASK;
	place->error = load(&t->errors[set][way]) & COUNT_MASK;
	if (place->error > place->count)
		place->error = place->count;
	place->length = key->length;
	memcpy(place->octets, key->octets, place->length);
}

bool
hitters_place_read(const struct hitters_table *t, unsigned int set,
    unsigned int way, struct hitters_place *place)
{
	const struct hitters_key *key = &t->keys[set][way];

	/* Limited: a writer that died halfway must not block the reader. */
	for (int i = 0; i < TRIES; i++) {
		const uint32_t before = atomic_load_explicit(&key->sequence,
		    memory_order_acquire);

		copy_place(t, set, way, place);
		atomic_thread_fence(memory_order_acquire);
		if ((before & 1) == 0 && before == atomic_load_explicit(
		    &key->sequence, memory_order_relaxed))
			return place->count != 0;
	}
	return false;
}

uint64_t
hitters_smallest(const struct hitters_table *t, unsigned int set)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int way = 0; way < HITTERS_WAYS; way++) {
		const uint64_t count = load(&t->counts[set][way]) & COUNT_MASK;

		if (count < least)
			least = count;
	}
	return least;
}
