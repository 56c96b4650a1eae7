/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bucket is the moment at which it is full again.  A question moves it on by
 * the time in which one token comes; if it would get further away than the
 * burst takes to come, the question is over the limit and moves nothing.
 *
 * A bucket's tag and moment are two words that change one after the other.  Two
 * threads that meet in one place may count one question of a key too few, never
 * one too many: a place that changes hands is empty first.
 */
#include "policy/match/rate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#define LINE		64	/* octets of a cache line */
#define WAYS		8	/* buckets of a set: two cache lines */
#define OWN_WAYS	4	/* of one user, if others want the rest */
#define SECOND_NS	INT64_C(1000000000)
#define OWNER_BITS	16

struct bucket {
	_Atomic uint64_t tag;		/* hash of the key, and of its user */
	_Atomic int64_t full_at;	/* CLOCK_MONOTONIC */
};

struct rate_table {
	uint8_t secret[RATE_SECRET];
	uint64_t mask;			/* of sets */
	_Atomic uint64_t evicted;
	struct bucket *buckets;		/* aligned, in: */
	void *memory;
};

struct rate_table *
rate_new(unsigned int bits, const uint8_t secret[static RATE_SECRET])
{
	struct rate_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return NULL;
	memcpy(table->secret, secret, RATE_SECRET);
	table->mask = ((uint64_t)1 << bits) / WAYS - 1;
	/* calloc(3): pages that no bucket is in take no memory. */
	table->memory = calloc(1, (sizeof(struct bucket) << bits) + LINE);
	if (table->memory == NULL) {
		free(table);
		return NULL;
	}
	table->buckets = (void *)(((uintptr_t)table->memory + LINE - 1) &
	    ~(uintptr_t)(LINE - 1));
	return table;
}

void
rate_free(struct rate_table *table)
{
	if (table == NULL)
		return;
	free(table->memory);
	free(table);
}

#define RECORDS		100	/* a second, that a rule's "log" asks for */
#define RECORDS_AT_ONCE	1000

/* What a bucket is for. */
enum bucket_kind { BUCKET_QUESTIONS, BUCKET_RECORDS };

/* A key as octets: its kind, the rule's name, and whose it is. */
struct key {
	uint8_t octets[RULE_NAME_MAX + 2 + NAME_MAX_OCTETS];
	size_t length;
};

static void
put(struct key *key, const void *octets, size_t length)
{
	memcpy(key->octets + key->length, octets, length);
	key->length += length;
}

/* The user; of one that is not known, the address. */
static void
put_user(struct key *key, const struct asker *asker)
{
	if (asker->uid != (uid_t)-1)
		put(key, &asker->uid, sizeof(asker->uid));
	else if (asker->address != NULL)
		put(key, asker->address, asker->family == AF_INET ? 4 : 16);
}

static void
make_key(struct key *key, const struct rules_rule *rule,
    const struct rules_question *question)
{
	const struct asker *asker = question->asker;

	const uint8_t kind = BUCKET_QUESTIONS;

	key->length = 0;
	put(key, &kind, 1);
	put(key, &rule->name_length, 1);
	put(key, rule->name, rule->name_length);
	switch (rule->rate.per) {
	case RULE_PER_USER:
		put_user(key, asker);
		break;
	case RULE_PER_CLIENT:
		if (asker->address != NULL)
			put(key, asker->address,
			    asker->family == AF_INET ? 4 : 16);
		break;
	case RULE_PER_NAME:
		put(key, question->name->octets, question->name->length);
		break;
	default:
		break;
	}
}

static uint64_t
hash_of(const struct rate_table *table, const struct key *key)
{
	return XXH3_64bits_withSecret(key->octets, key->length, table->secret,
	    sizeof(table->secret));
}

/* A few bits for whose questions fill the place. */
static uint64_t
owner_of(const struct rate_table *table, const struct asker *asker)
{
	struct key key = { .length = 0 };

	put_user(&key, asker);
	return hash_of(table, &key) >> (64 - OWNER_BITS);
}

static uint64_t
tag_of(uint64_t hash, uint64_t owner)
{
	const uint64_t tag = hash >> OWNER_BITS << OWNER_BITS | owner;

	return tag != 0 ? tag : 1;
}

static bool
same_owner(uint64_t a, uint64_t b)
{
	return (uint16_t)a == (uint16_t)b;
}

static uint64_t
tag_at(const struct bucket *bucket)
{
	return atomic_load_explicit(&bucket->tag, memory_order_relaxed);
}

static int64_t
full_at(const struct bucket *bucket)
{
	return atomic_load_explicit(&bucket->full_at, memory_order_relaxed);
}

/* The nearest to full, of the user's own if "own" says so. */
static struct bucket *
least_of(struct bucket *set, uint64_t tag, bool own)
{
	struct bucket *least = NULL;

	for (size_t i = 0; i < WAYS; i++)
		if ((!own || same_owner(tag_at(&set[i]), tag)) &&
		    (least == NULL || full_at(&set[i]) < full_at(least)))
			least = &set[i];
	return least;
}

/* The place for a key that has none yet. */
static struct bucket *
place_for(struct rate_table *table, struct bucket *set, uint64_t tag,
    int64_t now)
{
	struct bucket *least = least_of(set, tag, false);
	size_t own = 0;

	if (full_at(least) <= now)
		return least;
	for (size_t i = 0; i < WAYS; i++)
		own += same_owner(tag_at(&set[i]), tag);
	if (own >= OWN_WAYS)
		least = least_of(set, tag, true);
	atomic_fetch_add_explicit(&table->evicted, 1, memory_order_relaxed);
	return least;
}

static struct bucket *
bucket_for(struct rate_table *table, uint64_t hash, uint64_t owner,
    int64_t now)
{
	struct bucket *set = &table->buckets[(hash & table->mask) * WAYS];
	const uint64_t tag = tag_of(hash, owner);
	struct bucket *bucket;

	for (size_t i = 0; i < WAYS; i++)
		if (tag_at(&set[i]) >> OWNER_BITS == tag >> OWNER_BITS)
			return &set[i];
	bucket = place_for(table, set, tag, now);
	atomic_store_explicit(&bucket->full_at, 0, memory_order_relaxed);
	atomic_store_explicit(&bucket->tag, tag, memory_order_relaxed);
	return bucket;
}

/* Takes a token, of which "limit" come a second and "burst" fit. */
static bool
take_token(struct rate_table *table, const struct key *key,
    const struct asker *asker, uint32_t limit, uint32_t burst)
{
	const int64_t now = asker->now.ns;
	const int64_t token = SECOND_NS / limit;
	const int64_t room = token * burst;
	struct bucket *bucket = bucket_for(table, hash_of(table, key),
	    owner_of(table, asker), now);
	int64_t before = full_at(bucket), after;

	do {
		after = (before > now ? before : now) + token;
		if (after - now > room)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&bucket->full_at,
	    &before, after, memory_order_relaxed, memory_order_relaxed));
	return true;
}

bool
rate_take(struct rate_table *table, const struct rules_rule *rule,
    const struct rules_question *question)
{
	struct key key;

	make_key(&key, rule, question);
	return take_token(table, &key, question->asker, rule->rate.limit,
	    rule->rate.limit);
}

bool
rate_take_record(struct rate_table *table, const struct rules_rule *rule,
    const struct rules_question *question)
{
	const uint8_t kind = BUCKET_RECORDS;
	struct key key = { .length = 0 };

	if (table == NULL)
		return true;
	put(&key, &kind, 1);
	put(&key, rule->name, rule->name_length);
	return take_token(table, &key, question->asker, RECORDS,
	    RECORDS_AT_ONCE);
}

uint64_t
rate_full(const struct rate_table *table)
{
	return atomic_load_explicit(&table->evicted, memory_order_relaxed);
}
