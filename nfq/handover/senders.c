/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table of small sets.  An entry has three words: two hold the sender,
 * and the third, the tag, is the hash of the connection and of those two words.
 * Threads of several processes write and read entries without a lock.  If words
 * of an entry do not belong together, because it is half written, its tag is
 * wrong and the entry is not found.
 */
#include "nfq/handover/senders.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <xxhash.h>

#define SETS	4096
#define WAYS	4

/* No user with a group: nobody's packet has these. */
#define GUEST	((uint64_t)UINT32_MAX << 32)

struct entry {
	_Atomic uint64_t tag;		/* 0: free */
	_Atomic uint64_t user;		/* uid, gid; GUEST */
	_Atomic uint64_t path;		/* mark, device */
};

struct senders {
	uint64_t seed;			/* so that nobody can aim at a set */
	atomic_uint turn;		/* which entry of a full set is replaced */
	struct entry sets[SETS][WAYS];
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

/* The connection's hash, and its set. */
static struct entry *
find_set(struct senders *s, const struct sender_ends *ends, uint64_t *hash)
{
	*hash = XXH3_64bits_withSeed(ends, sizeof(*ends), s->seed);
	return s->sets[*hash % SETS];
}

/* The tag of an entry with these words; not 0. */
static uint64_t
combine(uint64_t hash, uint64_t user, uint64_t path)
{
	const uint64_t words[] = { user, path };
	const uint64_t tag = XXH3_64bits_withSeed(words, sizeof(words), hash);

	return tag != 0 ? tag : 1;
}

/* Whether the entry is this connection's.  *tag is its tag in either case. */
static bool
read_entry(struct entry *e, uint64_t hash, uint64_t *tag,
    struct sender *sender)
{
	const uint64_t user = atomic_load(&e->user);
	const uint64_t path = atomic_load(&e->path);

	*tag = atomic_load(&e->tag);
	if (*tag == 0 || *tag != combine(hash, user, path))
		return false;
	*sender = (struct sender){ .uid = (uid_t)(user >> 32),
		.gid = user == GUEST ? (gid_t)-1 : (gid_t)user,
		.guest = user == GUEST, .mark = (uint32_t)(path >> 32),
		.device = (uint32_t)path };
	return true;
}

/*
 * In a full set, an entry of the user that has most of them: nobody's flood makes
 * the connections of others unknown.
 */
static size_t
find_victim(struct entry *set, unsigned int turn)
{
	unsigned int most = 0;
	size_t found = 0;

	for (size_t n = 0; n < WAYS; n++) {
		const size_t i = (turn + n) % WAYS;
		const uint64_t uid = atomic_load(&set[i].user) >> 32;
		unsigned int count = 0;

		for (size_t j = 0; j < WAYS; j++)
			count += atomic_load(&set[j].user) >> 32 == uid;
		if (count > most) {
			most = count;
			found = i;
		}
	}
	return found;
}

void
senders_put(struct senders *s, const struct sender_ends *ends,
    const struct sender *sender)
{
	const uint64_t user = sender->guest ? GUEST :
	    (uint64_t)sender->uid << 32 | sender->gid;
	const uint64_t path = (uint64_t)sender->mark << 32 | sender->device;
	uint64_t hash, tag;
	struct entry *set = find_set(s, ends, &hash);
	struct sender before;
	size_t place = WAYS;

	for (size_t i = 0; i < WAYS; i++) {
		/* Its own, of a packet that was sent again, comes first. */
		if (read_entry(&set[i], hash, &tag, &before)) {
			place = i;
			break;
		}
		if (tag == 0)
			place = i;
	}
	if (place == WAYS)
		place = find_victim(set, atomic_fetch_add_explicit(&s->turn, 1,
		    memory_order_relaxed));
	atomic_store(&set[place].user, user);
	atomic_store(&set[place].path, path);
	atomic_store(&set[place].tag, combine(hash, user, path));
}

struct sender
senders_take(struct senders *s, const struct sender_ends *ends)
{
	uint64_t hash, tag;
	struct entry *set = find_set(s, ends, &hash);
	struct sender sender;

	for (size_t i = 0; i < WAYS; i++) {
		if (!read_entry(&set[i], hash, &tag, &sender))
			continue;
		(void)atomic_compare_exchange_strong(&set[i].tag, &tag, 0);
		return sender;
	}
	return SENDER_UNKNOWN;
}
