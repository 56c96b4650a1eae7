/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table of small sets.  One word holds what is known of a connection,
 * half of its hash and its user: so it is read and written whole.
 */
#include "nfq/handover/senders.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <xxhash.h>

#define SETS	4096
#define WAYS	4

struct senders {
	uint64_t seed;			/* so that nobody can aim at a set */
	atomic_uint turn;		/* whose place is taken next */
	_Atomic uint64_t sets[SETS][WAYS];	/* 0: free */
};

struct senders *
senders_new(void)
{
	struct senders *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	if (getrandom(&s->seed, sizeof(s->seed), 0) !=
	    (ssize_t)sizeof(s->seed))
		s->seed = (uint64_t)(uintptr_t)s;
	return s;
}

void
senders_free(struct senders *s)
{
	if (s != NULL)
		(void)munmap(s, sizeof(*s));
}

/* The set, and the upper half of a connection's word, which is never 0. */
static _Atomic uint64_t *
find(struct senders *s, const struct sender_ends *ends, uint64_t *tag)
{
	const uint64_t hash = XXH3_64bits_withSeed(ends, sizeof(*ends),
	    s->seed);

	*tag = (hash & ~(uint64_t)UINT32_MAX) | (uint64_t)1 << 32;
	return s->sets[hash % SETS];
}

void
senders_put(struct senders *s, const struct sender_ends *ends, uid_t uid)
{
	uint64_t tag;
	_Atomic uint64_t *set = find(s, ends, &tag);
	size_t place = WAYS;

	for (size_t i = 0; i < WAYS; i++) {
		const uint64_t word = atomic_load(&set[i]);

		/* Its own, of a packet that was sent again, comes first. */
		if (word >> 32 == tag >> 32) {
			place = i;
			break;
		}
		if (word == 0)
			place = i;
	}
	if (place == WAYS)
		place = atomic_fetch_add_explicit(&s->turn, 1,
		    memory_order_relaxed) % WAYS;
	atomic_store(&set[place], tag | uid);
}

uid_t
senders_take(struct senders *s, const struct sender_ends *ends)
{
	uint64_t tag;
	_Atomic uint64_t *set = find(s, ends, &tag);

	for (size_t i = 0; i < WAYS; i++) {
		uint64_t word = atomic_load(&set[i]);

		if (word >> 32 != tag >> 32)
			continue;
		(void)atomic_compare_exchange_strong(&set[i], &word, 0);
		return (uid_t)word;
	}
	return (uid_t)-1;
}
