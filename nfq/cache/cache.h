/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of upstreams in flat memory of a fixed size, shared by the threads of a
 * process: any of them reads, without a lock, and any writes.  The memory outlives
 * the worker process, and is read again by the next one.
 *
 * Whole messages are kept, under the question that they answer; nothing is
 * learnt from their records.  A message has no OPT and AA clear, and its TTLs are
 * those at the time it was stored.  Where its id was stands the extended error
 * that came with it (RFC 8914): keep.h.
 *
 * "now" is of CLOCK_BOOTTIME.
 */
#ifndef NFDNS_NFQ_CACHE_CACHE_H
#define NFDNS_NFQ_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/clock.h"
#include "resolver/dns/name.h"

#define CACHE_MESSAGE_MAX	8192	/* octets; longer ones are not kept */
#define CACHE_ENTRIES_MAX	4000000

enum cache_kind {
	CACHE_POSITIVE,
	CACHE_NODATA,
	CACHE_NXDOMAIN,		/* found for every type of the name */
	CACHE_FAILURE,		/* stands beside the others */
	CACHE_KINDS
};

/* What an answer depends on (class IN). */
struct cache_key {
	const struct dns_name *name;	/* lower case; borrowed */
	uint16_t type;
	bool dnssec_ok;			/* DO */
	bool checking_disabled;		/* CD */
};

/* What is to be kept; borrows all. */
struct cache_answer {
	struct cache_key key;
	enum cache_kind kind;
	uint32_t ttl_s;			/* above 0 */
	const uint8_t *message;
	size_t length;
	monotime_t asked;		/* when its question was */
	uint64_t generation;		/* of the settings that it was asked by */
};

/* An entry as it was found; a value, but for the message (see cache_find()). */
struct cache_entry {
	enum cache_kind kind;
	monotime_t stored;
	monotime_t expires;
	monotime_t retry;	/* stale: not asked again before that */
	uint32_t retry_s;	/* the last such wait; 0: none since it was stored */
	uint32_t hits;		/* with this one, if it becomes one */
	bool prefetched;	/* cache_mark_prefetched() was called */
	uint32_t place;		/* for the cache's own use, ... */
	uint32_t sequence;	/* ... to find it again */
	size_t length;		/* of the message */
};

struct cache_stats {
	uint64_t stored, replaced, evicted, flushed;
	uint64_t hits, misses;		/* of cache_count() */
	uint32_t entries;		/* now */
	uint32_t entries_max;
	uint64_t octets;		/* of messages, now */
};

struct cache;

/* Octets of memory that a cache of so many answers takes. */
size_t cache_octets(uint32_t entries);

/*
 * A cache in memory of cache_octets(entries), which is borrowed.  If the memory
 * holds a cache of that size, it is kept, but for entries that were being written
 * when their process died; else the memory is made an empty one.  "secret" keys the
 * hash of a new one.  No other process writes.  NULL without memory.
 */
#define CACHE_SECRET 192
struct cache *cache_open(void *memory, uint32_t entries,
    const uint8_t secret[static CACHE_SECRET]);

/* The memory stays as it is.  NULL is allowed. */
void cache_close(struct cache *cache);

/*
 * Finds what is kept for a key at "now", in this order: a fresh answer, a fresh
 * denial of the whole name, a fresh failure, an expired positive answer.  Copies
 * its message to buf.  A fresh failure is not given if there is an expired
 * positive answer of at most "stale_s" seconds; one older than that is not there.
 * Nothing is counted.
 */
bool cache_find(struct cache *cache, monotime_t now,
    const struct cache_key *key, uint32_t stale_s, struct cache_entry *entry,
    uint8_t buf[static CACHE_MESSAGE_MAX]);

/*
 * Counts a client's question: one that was answered with what was found, which is
 * evicted later for it; or, NULL, one for which nothing was there.
 */
void cache_count(struct cache *cache, const struct cache_entry *entry);

/*
 * The generation of the settings that all answers are good for.  A reload changes
 * the settings first, and one thread removes answers of other upstreams a moment
 * later: it sets CACHE_CHANGING before that, and nothing is kept until it sets the
 * new one.
 */
#define CACHE_CHANGING UINT64_MAX
uint64_t cache_generation(const struct cache *cache);
void cache_set_generation(struct cache *cache, uint64_t generation);

/*
 * Keeps an answer.  It takes the place of what is there for the key, but a failure
 * leaves an answer.  Nothing is kept of other settings than those of
 * cache_generation(), nor if another answer has been stored since this one was asked
 * for: two that ask the same at a time are not two guesses for a forger.
 */
void cache_store(struct cache *cache, monotime_t now,
    const struct cache_answer *answer);

/* Sets entry->retry and retry_s of what was found, if it still stands there. */
void cache_retry(struct cache *cache, const struct cache_entry *entry,
    monotime_t retry, uint32_t retry_s);

/* Notes that a prefetch of what was found has begun. */
void cache_mark_prefetched(struct cache *cache,
    const struct cache_entry *entry);

/* Removes a name, or with "below" all names in it too; returns how many. */
uint32_t cache_flush(struct cache *cache, const struct dns_name *name,
    bool below);

/*
 * The same in parts, so that a large cache holds up nobody: looks at "most" entries
 * from *place on, 0 at the begin and after the last part.
 */
uint32_t cache_flush_part(struct cache *cache, const struct dns_name *name,
    bool below, uint32_t *place, uint32_t most);

/*
 * Walks all entries, expired ones too: begins with *place 0, false at the end.
 * The key's name is written to "name".  Nobody may write meanwhile.
 */
bool cache_walk(struct cache *cache, uint32_t *place, struct cache_key *key,
    struct dns_name *name, struct cache_entry *entry);

void cache_stats(struct cache *cache, struct cache_stats *stats);

#endif
