/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cache/cache.h"

#include <stdlib.h>
#include <string.h>

#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "tests/check.h"

static const uint8_t secret[CACHE_SECRET] = { 7 };
static void *memory;
static struct cache *cache;
static struct cache_entry entry;
static uint8_t buf[CACHE_MESSAGE_MAX];
static uint32_t size;

static void
begin(uint32_t entries)
{
	size = entries;
	memory = calloc(1, cache_octets(entries));
	cache = cache_open(memory, entries, secret);
	CHECK(cache != NULL);
}

static void
end(void)
{
	cache_close(cache);
	free(memory);
}

static monotime_t
at(int64_t s)
{
	return monotime_from_ms((1000 + s) * 1000);
}

static struct dns_name
name_of(const char *text)
{
	struct dns_name name;

	CHECK(name_from_text(&name, text, strlen(text)) == 0);
	return name;
}

/* A message of that length with the name in its question, filled with an octet. */
static void
store(const char *text, uint16_t type, enum cache_kind kind, int64_t when,
    uint32_t ttl, size_t length, uint8_t fill)
{
	const struct dns_name name = name_of(text);
	uint8_t message[CACHE_MESSAGE_MAX];

	memset(message, fill, sizeof(message));
	memcpy(message + DNS_HEADER, name.octets, name.length);
	cache_store(cache, at(when), &(struct cache_answer){
	    .key = { .name = &name, .type = type }, .kind = kind, .ttl_s = ttl,
	    .message = message, .length = length, .asked = at(when) });
}

static bool
find(const char *text, uint16_t type, int64_t when, uint32_t stale)
{
	const struct dns_name name = name_of(text);
	const struct cache_key key = { .name = &name, .type = type };

	return cache_find(cache, at(when), &key, stale, &entry, buf);
}

TEST(keeps_until_it_expires)
{
	begin(16);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 10, 700, 'x');
	CHECK(find("a.test", TYPE_A, 9, 0) && entry.length == 700);
	CHECK(buf[699] == 'x' && entry.kind == CACHE_POSITIVE);
	CHECK(!find("a.test", TYPE_A, 10, 0));
	CHECK(!find("a.test", TYPE_AAAA, 9, 0) && !find("b.test", TYPE_A, 9, 0));
	CHECK(find("a.test", TYPE_A, 10, 5) && !find("a.test", TYPE_A, 15, 5));
	end();
}

TEST(do_and_cd_are_other_keys)
{
	const struct dns_name name = name_of("a.test");
	struct cache_key key = { .name = &name, .type = TYPE_A };

	begin(16);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 10, 100, 'x');
	CHECK(cache_find(cache, at(1), &key, 0, &entry, buf));
	key.dnssec_ok = true;
	CHECK(!cache_find(cache, at(1), &key, 0, &entry, buf));
	key = (struct cache_key){ .name = &name, .type = TYPE_A,
		.checking_disabled = true };
	CHECK(!cache_find(cache, at(1), &key, 0, &entry, buf));
	end();
}

TEST(denials_failures_and_stale_answers)
{
	begin(16);
	store("a.test", TYPE_A, CACHE_NXDOMAIN, 0, 10, 100, 'n');
	CHECK(find("a.test", TYPE_MX, 1, 0) && entry.kind == CACHE_NXDOMAIN);
	store("a.test", TYPE_A, CACHE_POSITIVE, 1, 10, 100, 'p');
	CHECK(find("a.test", TYPE_A, 2, 0) && entry.kind == CACHE_POSITIVE);
	CHECK(!find("a.test", TYPE_MX, 2, 0));	/* the name exists */
	store("a.test", TYPE_A, CACHE_FAILURE, 20, 5, 100, 'f');
	CHECK(find("a.test", TYPE_A, 21, 60) && buf[99] == 'p');
	CHECK(find("a.test", TYPE_A, 21, 0) && buf[99] == 'f');
	store("a.test", TYPE_A, CACHE_NXDOMAIN, 22, 5, 100, 'n');
	CHECK(find("a.test", TYPE_A, 23, 60) && buf[99] == 'n');
	CHECK(!find("a.test", TYPE_A, 30, 60));	/* nor does the stale one return */
	end();
}

TEST(what_is_not_used_goes_first)
{
	char text[32];

	begin(64);
	store("used.test", TYPE_A, CACHE_POSITIVE, 0, 3600, 300, 'u');
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "n%d.test", i);
		store(text, TYPE_A, CACHE_POSITIVE, 0, 3600, 300, 'x');
		if (i % 16 != 0)
			continue;
		CHECK(find("used.test", TYPE_A, 1, 0));
		cache_count(cache, &entry);
	}
	CHECK(find("n999.test", TYPE_A, 1, 0) && !find("n1.test", TYPE_A, 1, 0));
	end();
}

TEST(large_messages_push_out_others)
{
	struct cache_stats stats;
	char text[32];

	begin(32);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(text, sizeof(text), "n%d.test", i);
		store(text, TYPE_A, CACHE_POSITIVE, 0, 60,
		    CACHE_MESSAGE_MAX, (uint8_t)i);
	}
	CHECK(find("n99.test", TYPE_A, 1, 0) &&
	    entry.length == CACHE_MESSAGE_MAX);
	CHECK(buf[CACHE_MESSAGE_MAX - 1] == 99);
	cache_stats(cache, &stats);
	CHECK(stats.entries == 3 && stats.evicted == 97);
	CHECK(stats.octets == 3ULL * CACHE_MESSAGE_MAX);
	end();
}

TEST(flush_and_walk)
{
	struct dns_name name;
	struct cache_key key;
	uint32_t place = 0;

	begin(16);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 60, 100, 'x');
	store("b.a.test", TYPE_A, CACHE_POSITIVE, 0, 60, 100, 'x');
	store("ba.test", TYPE_MX, CACHE_POSITIVE, 0, 60, 600, 'x');
	name = name_of("a.test");
	CHECK(cache_flush(cache, &name, true) == 2);
	CHECK(cache_walk(cache, &place, &key, &name, &entry));
	CHECK(key.type == TYPE_MX && name_equal(key.name, &name) &&
	    entry.length == 600);
	CHECK(!cache_walk(cache, &place, &key, &name, &entry));
	end();
}

TEST(another_process_goes_on)
{
	struct cache_stats stats;

	begin(16);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 60, 700, 'x');
	store("b.test", TYPE_A, CACHE_POSITIVE, 0, 60, 700, 'y');
	CHECK(find("b.test", TYPE_A, 1, 0));
	cache_close(cache);
	cache = cache_open(memory, size, secret);
	CHECK(find("a.test", TYPE_A, 1, 0) && buf[699] == 'x');
	CHECK(find("b.test", TYPE_A, 1, 0) && buf[699] == 'y');
	cache_stats(cache, &stats);
	CHECK(stats.entries == 2 && stats.octets == 1400);
	cache_close(cache);
	cache = cache_open(memory, size / 2, secret);	/* another size: empty */
	CHECK(!find("a.test", TYPE_A, 1, 0));
	end();
}

TEST(marks)
{
	struct cache_entry before;

	begin(16);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 60, 100, 'x');
	CHECK(find("a.test", TYPE_A, 1, 0) && entry.hits == 1);
	cache_count(cache, &entry);
	before = entry;
	cache_retry(cache, &before, at(9), 5);
	cache_mark_prefetched(cache, &before);
	CHECK(find("a.test", TYPE_A, 1, 0) && entry.hits == 2);
	CHECK(entry.prefetched && entry.retry_s == 5 &&
	    entry.retry.ns == at(9).ns);
	store("a.test", TYPE_A, CACHE_POSITIVE, 0, 60, 100, 'y');
	cache_mark_prefetched(cache, &before);	/* of what is gone */
	CHECK(find("a.test", TYPE_A, 1, 0) && !entry.prefetched);
	CHECK(entry.retry.ns == 0 && entry.retry_s == 0);
	end();
}

/* Asked for at that time by settings of that generation; all else is as above. */
static void
store_asked(enum cache_kind kind, int64_t when, int64_t asked,
    uint64_t generation, uint8_t fill)
{
	const struct dns_name name = name_of("a.test");
	uint8_t message[100];

	memset(message, fill, sizeof(message));
	memcpy(message + DNS_HEADER, name.octets, name.length);
	cache_store(cache, at(when), &(struct cache_answer){
	    .key = { .name = &name, .type = TYPE_A }, .kind = kind, .ttl_s = 10,
	    .message = message, .length = sizeof(message), .asked = at(asked),
	    .generation = generation });
}

/* Two that ask the same at a time are not two guesses for a forger. */
TEST(what_was_asked_before_an_answer_came_is_not_kept)
{
	begin(16);
	store_asked(CACHE_POSITIVE, 5, 0, 0, 'x');
	store_asked(CACHE_POSITIVE, 6, 4, 0, 'y');
	store_asked(CACHE_NXDOMAIN, 6, 4, 0, 'y');
	CHECK(find("a.test", TYPE_A, 6, 0) && buf[99] == 'x');
	store_asked(CACHE_POSITIVE, 6, 5, 0, 'z');
	CHECK(find("a.test", TYPE_A, 6, 0) && buf[99] == 'z');
	store_asked(CACHE_NXDOMAIN, 7, 6, 0, 'n');
	store_asked(CACHE_POSITIVE, 8, 6, 0, 'y');
	CHECK(find("a.test", TYPE_A, 8, 0) && buf[99] == 'n');
	store_asked(CACHE_POSITIVE, 20, 6, 0, 'x');	/* it has expired */
	CHECK(find("a.test", TYPE_A, 20, 0) && buf[99] == 'x');
	store_asked(CACHE_FAILURE, 40, 39, 0, 'f');	/* one is no answer */
	store_asked(CACHE_POSITIVE, 41, 39, 0, 'y');
	CHECK(find("a.test", TYPE_A, 41, 0) && buf[99] == 'y');
	end();
}

TEST(answers_by_other_settings_are_not_kept)
{
	begin(16);
	cache_set_generation(cache, 7);
	store_asked(CACHE_POSITIVE, 0, 0, 6, 'x');
	store_asked(CACHE_FAILURE, 0, 0, 8, 'f');
	CHECK(!find("a.test", TYPE_A, 1, 0));
	store_asked(CACHE_POSITIVE, 0, 0, 7, 'x');
	cache_set_generation(cache, CACHE_CHANGING);
	store_asked(CACHE_POSITIVE, 1, 0, 7, 'y');
	CHECK(find("a.test", TYPE_A, 1, 0) && buf[99] == 'x');
	end();
}

/* Shards are full one after another, the first before all of it is. */
TEST(as_many_as_its_size_are_kept)
{
	const uint32_t most = 10000;
	struct cache_stats stats;
	char text[32];

	begin(most);
	for (uint32_t i = 0; i < 2 * most; i++) {
		(void)snprintf(text, sizeof(text), "n%u.test", i);
		store(text, TYPE_A, CACHE_POSITIVE, 0, 3600, 100, 'x');
		if (i != most - 1)
			continue;
		cache_stats(cache, &stats);
		printf("figure: of %u answers a cache of that size keeps %u\n",
		    most, stats.entries);
		CHECK(stats.entries >= most / 100 * 95);
	}
	cache_stats(cache, &stats);
	CHECK(stats.entries == most);
	end();
}
