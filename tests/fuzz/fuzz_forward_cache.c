/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as the memory of a cache, as a worker that somebody took over may
 * leave it: the next one reads, walks, flushes and writes in it.  The first octet
 * says how far the octets reach into the memory of a sound cache.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfq/cache/cache_memory.h"
#include "nfq/cache/cache_state.h"
#include "resolver/dns/message.h"
#include "tests/fuzz/fuzz.h"

#define ENTRIES	8

static const monotime_t now = { INT64_C(1000000000000) };
static const uint8_t question[] = "\0\0\0\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
static const struct dns_name name = { .length = 3, .labels = 1,
	.octets = "\1a" };
static const struct cache_key key = { .name = &name, .type = 1 };

static void
fill(int fd)
{
	struct cache_memory m;
	uint8_t message[CACHE_MESSAGE_MAX] = { 0 };

	check(cache_memory_open(&m, fd, ENTRIES) == 0);
	memcpy(message, question, sizeof(question) - 1);
	for (uint16_t type = 1; type <= 4; type++) {
		struct cache_key k = key;

		k.type = type;
		message[sizeof(question) - 4] = (uint8_t)type;
		cache_store(m.cache, now, &(struct cache_answer){ .key = k,
		    .kind = CACHE_POSITIVE, .ttl_s = 60, .message = message,
		    .length = 100U + type * 300U });
	}
	cache_memory_close(&m);
}

static void
use(struct cache *cache)
{
	static uint8_t found[CACHE_MESSAGE_MAX];
	uint8_t message[600] = { 0 };
	const struct dns_name root = { .length = 1 };
	struct cache_entry entry;
	struct cache_stats stats;
	struct cache_key other;
	struct dns_name own;
	uint32_t place = 0, count = 0;

	if (cache_find(cache, now, &key, 30, &entry, found)) {
		check(entry.length <= CACHE_MESSAGE_MAX);
		cache_retry(cache, &entry, now, 5);
		cache_mark_prefetched(cache, &entry);
	}
	while (cache_walk(cache, &place, &other, &own, &entry))
		check(++count <= ENTRIES);
	memcpy(message, question, sizeof(question) - 1);
	for (uint32_t n = 0; n < 2 * ENTRIES; n++) {
		struct cache_key k = key;

		k.type = (uint16_t)n;
		cache_store(cache, now, &(struct cache_answer){ .key = k,
		    .kind = (enum cache_kind)(n % CACHE_KINDS), .ttl_s = 60,
		    .message = message, .length = sizeof(message), .asked = now,
		    .generation = cache_generation(cache) });
	}
	(void)cache_flush(cache, &root, true);
	cache_stats(cache, &stats);
	check(stats.entries <= ENTRIES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = cache_memory_new(ENTRIES);
	const off_t end = (off_t)cache_octets(ENTRIES);
	struct cache_memory m;
	off_t at;

	check(fd >= 0);
	fill(fd);
	if (size > 2) {
		at = (data[0] << 8 | data[1]) % end;
		size = size - 2 < (size_t)(end - at) ? size - 2 :
		    (size_t)(end - at);
		check(pwrite(fd, data + 2, size, at) == (ssize_t)size);
	}
	if (cache_memory_copy(&m, fd) == 0) {
		use(m.cache);
		cache_memory_close(&m);
	}
	check(cache_memory_open(&m, fd, ENTRIES) == 0);
	use(m.cache);
	cache_memory_close(&m);
	close(fd);
	return 0;
}
