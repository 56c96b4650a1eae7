/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which keys come most often, in fixed memory: the algorithm "space-saving"
 * (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005).  A new key takes the place of the one with
 * the smallest count, and goes on from that count, which is its error.  For every
 * key that is kept,
 *
 *	count - error <= how often it came <= count,
 *
 * and one that is not kept came at most as often as the smallest count says.
 * This holds for any order of keys: whoever invents keys cannot push out one
 * that comes more often than the smallest count.
 *
 * To find a key in one cache line, the table is divided into sets, and a key's
 * hash says which is its set: each set is a table of its own for its keys.  The
 * hash takes a secret, so that nobody can aim at one set.
 *
 * One thread writes a table; others read it at the same time.
 */
#ifndef NFDNS_POLICY_STATUS_HITTERS_H
#define NFDNS_POLICY_STATUS_HITTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"

#define HITTERS_SETS	64		/* a power of two */
#define HITTERS_WAYS	8		/* keys of a set: hashes of a cache line */
#define HITTERS_ROOM	((size_t)HITTERS_SETS * HITTERS_WAYS)
#define HITTERS_KEY	NAME_MAX_OCTETS

/* The octets of a place's key; "sequence" is odd while the place changes hands. */
struct hitters_key {
	_Atomic uint32_t sequence;
	uint8_t length;
	uint8_t octets[HITTERS_KEY];
};

struct hitters_table {
	_Alignas(64) _Atomic uint64_t hashes[HITTERS_SETS][HITTERS_WAYS];
	_Atomic uint64_t counts[HITTERS_SETS][HITTERS_WAYS];	/* 0: free */
	_Atomic uint64_t errors[HITTERS_SETS][HITTERS_WAYS];
	struct hitters_key keys[HITTERS_SETS][HITTERS_WAYS];
};

/* All zero: the empty table. */
void hitters_clear(struct hitters_table *table);

/* Counts a key of at most HITTERS_KEY octets.  No system call, no allocation. */
void hitters_count(struct hitters_table *table, uint64_t secret,
    const uint8_t *key, size_t length);

/* A place as it was at one moment. */
struct hitters_place {
	uint64_t hash;
	uint64_t count;
	uint64_t error;			/* at most count */
	uint8_t length;
	uint8_t octets[HITTERS_KEY];
};

/*
 * Copies one place; false if it is free, or if the writer is just changing it.
 * The memory may hold anything: then the copy has any key of at most HITTERS_KEY
 * octets, any count below 2^48 and an error of at most that.
 */
bool hitters_place_read(const struct hitters_table *table, unsigned int set,
    unsigned int way, struct hitters_place *place);

/* The smallest count of a set: that often each key came that it has not kept. */
uint64_t hitters_smallest(const struct hitters_table *table, unsigned int set);

static inline unsigned int
hitters_set(uint64_t hash)
{
	return (unsigned int)(hash % HITTERS_SETS);
}

#endif
