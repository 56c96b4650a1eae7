/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions of queue threads for domains with a cache. */
#include "nfq/cache/cache.h"

#include "tests/express.h"

#define ENTRIES	16
#define DO_OPT	"\0\0\51\4\320\0\0\200\0\0\0"

static void *memory;
static struct cache *cache;
static const uint8_t secret[CACHE_SECRET];

static void
begin_cached(void)
{
	begin();
	settings.domain[0].cache = 1;
	memory = calloc(1, cache_octets(ENTRIES));
	cache = memory == NULL ? NULL : cache_open(memory, ENTRIES, secret);
	MUST(cache != NULL);
	cache_set_generation(cache, GENERATION);
}

static void
end_cached(void)
{
	cache_close(cache);
	free(memory);
	end();
}

/* Whether a queue thread may ask this, with that cache. */
static bool
asks(const char *name, uint16_t type, bool secure)
{
	make_packet(AF_INET, name, type, 1, DO_OPT, secure ? 11 : 0);
	asked.caches = true;
	asked.cache = cache;
	return express_upstream(x, &asked) != NULL;
}

/* A message as the cache has them: it finds them by their question. */
static size_t
message_for(const struct dns_name *name, uint8_t message[static 64])
{
	memset(message, 0, DNS_HEADER);
	message[5] = 1;
	memcpy(message + DNS_HEADER, name->octets, name->length);
	memcpy(message + DNS_HEADER + name->length, "\0\1\0\1", 4);
	return DNS_HEADER + name->length + 4U;
}

static void
store(monotime_t when, enum cache_kind kind, uint32_t ttl_s)
{
	const struct dns_name name = name_of("a.test");
	uint8_t message[64];
	const size_t length = message_for(&name, message);

	cache_store(cache, when, &(struct cache_answer){
	    .key = { .name = &name, .type = TYPE_A }, .kind = kind,
	    .ttl_s = ttl_s, .message = message, .length = length,
	    .asked = monotime_boot(), .generation = GENERATION });
}

/* Fresh, expired, or a failure: what to do with it is the forwarding thread's. */
static void
what_is_in_the_cache_is_not_asked(void)
{
	const monotime_t now = monotime_boot();

	begin_cached();
	CHECK(asks("a.test", TYPE_A, false));
	store(now, CACHE_POSITIVE, 60);
	CHECK(!asks("a.test", TYPE_A, false) && !asks("A.tEst", TYPE_A, false));
	CHECK(asks("a.test", TYPE_AAAA, false) && asks("b.test", TYPE_A, false));
	CHECK(asks("a.test", TYPE_A, true));
	store(monotime_add_ms(now, -5000), CACHE_POSITIVE, 1);
	settings.cache.stale_s = 60;
	CHECK(!asks("a.test", TYPE_A, false));
	settings.cache.stale = STALE_OFF;
	CHECK(asks("a.test", TYPE_A, false));
	store(now, CACHE_FAILURE, 60);
	CHECK(!asks("a.test", TYPE_A, false));
	store(now, CACHE_NXDOMAIN, 60);
	CHECK(!asks("a.test", TYPE_AAAA, false));
	end_cached();
}

static void
what_the_cache_has_nothing_to_do_with(void)
{
	begin_cached();
	store(monotime_boot(), CACHE_POSITIVE, 60);
	make_question("a.test", 1);
	CHECK(express_upstream(x, &asked) != NULL);	/* there is none */
	asked.caches = true;		/* there is one, not to be read now */
	CHECK(express_upstream(x, &asked) == NULL);
	in.question.flags &= (uint16_t)~DNS_FLAG_RD;
	CHECK(express_upstream(x, &asked) != NULL);
	settings.domain[0].cache = 0;
	CHECK(asks("a.test", TYPE_A, false));
	end_cached();
}

static void
ask_and_keep(struct express_reply *r, struct cache *to, uint64_t generation)
{
	struct express_attempt *a;

	CHECK(asks("a.test", TYPE_A, false));
	CHECK(ask_of(0) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	reply(&servers[0]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, r) && r->is_answer);
	express_keep(x, a, to, &settings, generation, r);
	check_answer(STAILQ_FIRST(&a->questions), r, 1);
	express_answered(x, a);
}

/* The clients' TTLs, too, are as the cache has them; the reply's is 60. */
static void
an_answer_is_kept(void)
{
	const struct dns_name name = name_of("a.test");
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	uint8_t found[CACHE_MESSAGE_MAX];
	struct cache_entry entry;
	struct express_reply r;

	begin_cached();
	settings.cache.min_ttl_s = 10;
	settings.cache.max_ttl_s = 30;
	ask_and_keep(&r, cache, GENERATION);
	CHECK(r.ttl.min == 10 && r.ttl.max == 30 && r.ttl.age == 0);
	CHECK(!asks("a.test", TYPE_A, false));
	CHECK(cache_find(cache, monotime_boot(), &key, 0, &entry, found));
	CHECK(entry.kind == CACHE_POSITIVE && entry.stored.ns == x->boot.ns);
	CHECK(monotime_ms_since(entry.expires, entry.stored) == 30000);
	end_cached();
}

/* Its upstream may be another one now. */
static void
an_answer_by_other_settings_is_not_kept(void)
{
	struct express_reply r;

	begin_cached();
	ask_and_keep(&r, cache, GENERATION + 1);
	CHECK(r.ttl.max == UINT32_MAX && asks("a.test", TYPE_A, false));
	/* The forwarding thread has new settings, this one does not know yet. */
	cache_set_generation(cache, CACHE_CHANGING);
	ask_and_keep(&r, cache, GENERATION);
	CHECK(asks("a.test", TYPE_A, false));
	cache_set_generation(cache, GENERATION + 1);
	ask_and_keep(&r, cache, GENERATION);
	CHECK(asks("a.test", TYPE_A, false));
	end_cached();
}

static void
ttls_are_bounded_while_nothing_is_kept(void)
{
	struct express_reply r;

	begin_cached();
	settings.cache.max_ttl_s = 30;
	ask_and_keep(&r, NULL, GENERATION);
	CHECK(r.ttl.max == 30 && asks("a.test", TYPE_A, false));
	end_cached();
}

int
main(void)
{
	TEST(what_is_in_the_cache_is_not_asked);
	TEST(what_the_cache_has_nothing_to_do_with);
	TEST(an_answer_is_kept);
	TEST(an_answer_by_other_settings_is_not_kept);
	TEST(ttls_are_bounded_while_nothing_is_kept);
	return test_summary();
}
