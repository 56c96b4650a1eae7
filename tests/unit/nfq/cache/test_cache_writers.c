/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several threads write the cache, and a process dies at any instruction of a write. */
#include "nfq/cache/cache.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/cache/cache_state.h"
#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"
#include "tests/image.h"

#define THREADS		4
#define ENTRIES		2000		/* 8 shards */
#define NAMES		3000
#define ROUNDS		20000		/* of each thread */
#define FEW		16		/* entries of a cache that is stepped through */
#define STEPS_MOST	2000000
#define KILLS		5

static const uint8_t secret[CACHE_SECRET] = { 5 };
static const monotime_t now = { INT64_C(1000000000000) };

static struct dns_name
numbered(unsigned int number)
{
	struct dns_name name;
	char text[32];
	int n = snprintf(text, sizeof(text), "n%u.test", number);

	MUST(name_from_text(&name, text, (size_t)n) == 0);
	return name;
}

/* Behind the question all octets are the same. */
static void
store(struct cache *cache, unsigned int number, enum cache_kind kind,
    size_t length, uint8_t fill)
{
	const struct dns_name name = numbered(number);
	uint8_t message[CACHE_MESSAGE_MAX];

	memset(message, fill, length);
	memcpy(message + DNS_HEADER, name.octets, name.length);
	cache_store(cache, now, &(struct cache_answer){
	    .key = { .name = &name, .type = TYPE_A }, .kind = kind, .ttl_s = 60,
	    .message = message, .length = length, .asked = now });
}

enum found { NOTHING, WHOLE, TORN };

static enum found
look_up(struct cache *cache, unsigned int number, struct cache_entry *entry)
{
	const struct dns_name name = numbered(number);
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	uint8_t octets[CACHE_MESSAGE_MAX];
	const size_t from = DNS_HEADER + name.length;

	if (!cache_find(cache, now, &key, 0, entry, octets))
		return NOTHING;
	for (size_t i = from + 1; i < entry->length; i++)
		if (octets[i] != octets[from])
			return TORN;
	return WHOLE;
}

/* What is counted is there, and each name is found as a whole. */
static void
check_all(struct cache *cache, unsigned int names)
{
	struct cache_stats stats;
	struct cache_entry entry;
	struct cache_key key;
	struct dns_name name;
	uint32_t place = 0, entries = 0;
	uint64_t octets = 0;

	while (cache_walk(cache, &place, &key, &name, &entry)) {
		entries++;
		octets += entry.length;
	}
	cache_stats(cache, &stats);
	CHECK(stats.entries == entries && stats.octets == octets);
	for (unsigned int n = 0; n < names; n++)
		CHECK(look_up(cache, n, &entry) != TORN);
}

/* How many large messages fit: one less if a block was lost. */
static uint32_t
large_ones(struct cache *cache, unsigned int stored)
{
	const struct dns_name root = { .length = 1 };
	struct cache_stats stats;

	(void)cache_flush(cache, &root, true);
	for (unsigned int n = 0; n < stored; n++)
		store(cache, n, CACHE_POSITIVE, CACHE_MESSAGE_MAX, 1);
	cache_stats(cache, &stats);
	return stats.entries;
}

static struct cache *shared;
static atomic_uint torn, seen;

static void
use_entry(unsigned int number, unsigned int random)
{
	struct cache_entry entry;

	switch (look_up(shared, number, &entry)) {
	case NOTHING:
		cache_count(shared, NULL);
		return;
	case TORN:
		atomic_fetch_add(&torn, 1);
		return;
	case WHOLE:
		break;
	}
	atomic_fetch_add(&seen, 1);
	cache_count(shared, &entry);
	if (random % 16 == 0)
		cache_retry(shared, &entry, now, 5);
	if (random % 16 == 1)
		cache_mark_prefetched(shared, &entry);
}

static void *
write_and_read(void *arg)
{
	unsigned int random = *(const unsigned int *)arg;
	const struct dns_name name = numbered(random);
	uint32_t place = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int number;

		random = random * 1103515245 + 12345;
		number = (random >> 8) % NAMES;
		store(shared, number, (enum cache_kind)((random >> 4) % 4),
		    100 + (random >> 3) % 900, (uint8_t)random);
		use_entry((random >> 9) % NAMES, random >> 20);
		if (random >> 27 == 0)
			(void)cache_flush_part(shared, &name, true, &place, 64);
	}
	return NULL;
}

TEST(many_write_at_a_time)
{
	void *memory = calloc(1, cache_octets(ENTRIES));
	void *other = calloc(1, cache_octets(ENTRIES));
	struct cache *fresh = cache_open(other, ENTRIES, secret);
	unsigned int numbers[THREADS];
	pthread_t threads[THREADS];

	shared = cache_open(memory, ENTRIES, secret);
	MUST(shared != NULL && fresh != NULL);
	CHECK(shared->shards == 8);
	for (unsigned int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		MUST(pthread_create(&threads[i], NULL, write_and_read,
		    &numbers[i]) == 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(atomic_load(&torn) == 0 && atomic_load(&seen) > ROUNDS);
	check_all(shared, NAMES);
	cache_close(shared);
	shared = cache_open(memory, ENTRIES, secret);
	MUST(shared != NULL);
	check_all(shared, NAMES);
	CHECK(large_ones(shared, ENTRIES) == large_ones(fresh, ENTRIES));
	cache_close(fresh);
	cache_close(shared);
	free(other);
	free(memory);
}

/* Each kind of write, in a cache that is full after some of them. */
static void
write_all(struct cache *cache)
{
	const struct dns_name name = numbered(3);
	struct cache_entry entry;

	store(cache, 1, CACHE_POSITIVE, 700, 1);
	store(cache, 1, CACHE_POSITIVE, 300, 2);
	store(cache, 1, CACHE_NXDOMAIN, 300, 3);
	store(cache, 1, CACHE_FAILURE, 100, 4);
	for (unsigned int n = 2; n < 8; n++)
		store(cache, n, CACHE_NODATA, 2500, (uint8_t)n);
	if (cache_find(cache, now, &(struct cache_key){ .name = &name,
	    .type = TYPE_A }, 0, &entry, (uint8_t[CACHE_MESSAGE_MAX]){ 0 })) {
		cache_count(cache, &entry);
		cache_retry(cache, &entry, now, 5);
		cache_mark_prefetched(cache, &entry);
	}
	(void)cache_flush(cache, &name, false);
}

/* A process that is stopped before it writes all. */
static pid_t
begin_writer(void *memory)
{
	const pid_t pid = fork();
	struct cache *cache;
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		cache = cache_open(memory, FEW, secret);
		if (cache == NULL || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		(void)raise(SIGSTOP);
		write_all(cache);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	return pid;
}

/* One instruction.  False: it has ended. */
static bool
step(pid_t pid)
{
	int status;

	MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status) || (WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0));
	return WIFSTOPPED(status);
}

/* The next process finds whole entries, and can write all of the memory. */
static void
check_next(void *memory)
{
	struct cache *next = cache_open(memory, FEW, secret);
	const struct dns_name root = { .length = 1 };
	struct cache_entry entry;

	MUST(next != NULL);
	check_all(next, 10);
	CHECK(large_ones(next, 3) == 1);	/* of 32 blocks; there are 48 */
	(void)cache_flush(next, &root, true);
	for (unsigned int n = 0; n < FEW; n++)
		store(next, n, CACHE_POSITIVE, 100, (uint8_t)n);
	for (unsigned int n = 0; n < FEW; n++)
		CHECK(look_up(next, n, &entry) == WHOLE);
	cache_close(next);
}

static void *
map(void)
{
	void *memory = mmap(NULL, cache_octets(FEW), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(memory != MAP_FAILED);
	return memory;
}

/* What a process leaves that is killed between any two of its instructions. */
static unsigned int
step_through(void)
{
	const size_t octets = cache_octets(FEW);
	void *memory = map(), *before = malloc(octets), *copy = malloc(octets);
	const pid_t pid = begin_writer(memory);
	unsigned int steps = 0, states = 0;

	MUST(before != NULL && copy != NULL);
	memcpy(before, memory, octets);
	while (steps < STEPS_MOST && step(pid)) {
		steps++;
		if (memcmp(before, memory, octets) == 0)
			continue;
		memcpy(before, memory, octets);
		memcpy(copy, memory, octets);
		check_next(copy);
		states++;
	}
	CHECK(steps < STEPS_MOST && states > 100);
	printf("figure: a write killed after each of %u instructions, %u states "
	    "of the memory\n", steps, states);
	free(copy);
	free(before);
	(void)munmap(memory, octets);
	return steps;
}

/* The same with processes that are killed, in their memory. */
TEST(a_writer_is_killed_anywhere)
{
	const unsigned int steps = step_through();

	for (unsigned int n = 1; n <= KILLS; n++) {
		void *memory = map();
		const pid_t pid = begin_writer(memory);
		int status;

		for (unsigned int i = 0; i < steps / (KILLS + 1) * n; i++)
			MUST(step(pid));
		MUST(kill(pid, SIGKILL) == 0);
		MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		check_next(memory);
		(void)munmap(memory, cache_octets(FEW));
	}
}
