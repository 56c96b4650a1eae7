/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many questions the cache answers, beside one that forgets by LRU. */
#include "nfq/cache/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"

#define NAMES	100000
#define ENTRIES	2000
#define ASKED	300000
#define SCANNED	20		/* of 100 questions: names never asked again */

static double sums[NAMES];
static uint64_t state = 88172645463325252;

static double
random_unit(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* Zipf's law: the share of a name is the inverse of its rank. */
static void
prepare(void)
{
	double sum = 0;

	for (int i = 0; i < NAMES; i++)
		sums[i] = sum += 1.0 / (i + 1);
}

static uint32_t
next_name(uint32_t turn, bool scan)
{
	double wanted = random_unit() * sums[NAMES - 1];
	uint32_t low = 0, high = NAMES - 1;

	if (scan && random_unit() * 100 < SCANNED)
		return NAMES + turn;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (sums[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* LRU over numbers. */
struct node {
	TAILQ_ENTRY(node) entry;
	bool in;
};

TAILQ_HEAD(nodes, node);
static struct nodes order = TAILQ_HEAD_INITIALIZER(order);
static struct node nodes[NAMES + ASKED];
static uint32_t held;

static bool
lru_ask(uint32_t name)
{
	struct node *node = &nodes[name], *last;
	bool hit = node->in;

	if (hit) {
		TAILQ_REMOVE(&order, node, entry);
	} else if (held == ENTRIES) {
		last = TAILQ_LAST(&order, nodes);
		TAILQ_REMOVE(&order, last, entry);
		last->in = false;
	} else {
		held++;
	}
	node->in = true;
	TAILQ_INSERT_HEAD(&order, node, entry);
	return hit;
}

static bool
cache_ask(struct cache *cache, uint32_t number)
{
	static uint8_t buf[CACHE_MESSAGE_MAX];
	monotime_t now = monotime_from_ms(1000);
	struct cache_entry entry;
	struct dns_name name;
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	uint8_t message[120] = { 0 };
	char text[32];
	int length = snprintf(text, sizeof(text), "n%u.test", number);

	if (name_from_text(&name, text, (size_t)length) != 0)
		abort();
	if (cache_find(cache, now, &key, 0, &entry, buf)) {
		cache_count(cache, &entry);
		return true;
	}
	memcpy(message + DNS_HEADER, name.octets, name.length);
	cache_store(cache, now, &(struct cache_answer){ .key = key,
	    .kind = CACHE_POSITIVE, .ttl_s = 3600, .message = message,
	    .length = sizeof(message) });
	return false;
}

static void
compare(bool scan, double least)
{
	static const uint8_t secret[CACHE_SECRET] = { 3 };
	void *memory = calloc(1, cache_octets(ENTRIES));
	struct cache *cache = cache_open(memory, ENTRIES, secret);
	uint32_t own = 0, lru = 0;

	memset(nodes, 0, sizeof(nodes));
	TAILQ_INIT(&order);
	held = 0;
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t name = next_name(i, scan);

		own += cache_ask(cache, name);
		lru += lru_ask(name);
	}
	printf("figure: cache hits, Zipf%s, %d of %d names: %.1f %%, "
	    "LRU %.1f %%\n", scan ? " with a scan" : "", ENTRIES, NAMES,
	    100.0 * own / ASKED, 100.0 * lru / ASKED);
	CHECK(own >= least * lru);
	cache_close(cache);
	free(memory);
}

TEST(no_worse_than_lru)
{
	compare(false, 1.0);
}

TEST(a_scan_does_not_empty_it)
{
	compare(true, 1.0);
}

int
main(void)
{
	prepare();
	return test_run();
}
