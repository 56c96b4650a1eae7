/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions of queue threads for domains with a cache. */
#include "nfq/forward/express_keep.h"

#include "tests/express.h"

#define ENTRIES	16
#define DO_OPT	"\0\0\51\4\320\0\0\200\0\0\0"

static void *memory;
static struct cache *cache;
static uint8_t found[CACHE_MESSAGE_MAX];

static void
begin_cached(void)
{
	static const uint8_t secret[CACHE_SECRET];

	begin();
	settings.domain[0].cache = 1;
	memory = calloc(1, cache_octets(ENTRIES));
	cache = memory == NULL ? NULL : cache_open(memory, ENTRIES, secret);
	MUST(cache != NULL);
}

static void
end_cached(void)
{
	cache_close(cache);
	free(memory);
	end();
}

static enum express_cached
look(const char *name, uint16_t type, bool secure)
{
	make_packet(AF_INET, name, type, 1, DO_OPT, secure ? 11 : 0);
	asked.caches = true;
	asked.cache = cache;
	return express_cached(&asked, fresh, monotime_boot(), found);
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

static struct fresh_answer *
answer_for(const char *text, uint16_t type)
{
	const struct dns_name name = name_of(text);
	const struct cache_key key = { .name = &name, .type = type };
	const uint8_t octet[DNS_HEADER] = { 0 };
	struct fresh_answer *a = fresh_answer_new(&key, octet, sizeof(octet));

	MUST(a != NULL);
	return a;
}

static void
what_is_on_its_way_is_not_asked(void)
{
	begin_cached();
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	fresh_answers_put(fresh, answer_for("a.test", TYPE_A));
	fresh_answers_put(fresh, answer_for("b.test", TYPE_A));
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_THERE);
	CHECK(look("A.tEst", TYPE_A, false) == EXPRESS_THERE);
	CHECK(look("b.test", TYPE_A, false) == EXPRESS_THERE);
	CHECK(look("a.test", TYPE_AAAA, false) == EXPRESS_TO_KEEP);
	CHECK(look("a.test", TYPE_A, true) == EXPRESS_TO_KEEP);
	CHECK(look("c.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	CHECK(name_equal(fresh_answers_first(fresh)->key.name,
	    &(struct dns_name){ .length = 8, .octets = "\1a\4test" }));
	fresh_answers_remove_first(fresh);
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	CHECK(look("b.test", TYPE_A, false) == EXPRESS_THERE);
	fresh_answers_remove_first(fresh);
	CHECK(fresh_answers_first(fresh) == NULL);
	end_cached();
}

/* The forwarding thread is late: what else would be asked here is its, too. */
static void
there_is_an_end_to_their_number(void)
{
	char name[16];

	begin_cached();
	for (int n = 0; n < FRESH_MANY; n++) {
		CHECK(look("other.test", TYPE_A, false) == EXPRESS_TO_KEEP);
		(void)snprintf(name, sizeof(name), "n%d.test", n);
		fresh_answers_put(fresh, answer_for(name, TYPE_A));
	}
	CHECK(look("other.test", TYPE_A, false) == EXPRESS_THERE);
	fresh_answers_remove_first(fresh);
	CHECK(look("other.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	end_cached();
}

/* Fresh, expired, or a failure: what to do with it is the forwarding thread's. */
static void
what_is_in_the_cache_is_not_asked(void)
{
	const struct dns_name name = name_of("a.test");
	const struct cache_key key = { .name = &name, .type = TYPE_A };
	const monotime_t now = monotime_boot();
	uint8_t message[64];
	const size_t length = message_for(&name, message);

	begin_cached();
	cache_store(cache, now, &key, CACHE_POSITIVE, 60, message, length);
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_THERE);
	CHECK(look("a.test", TYPE_AAAA, false) == EXPRESS_TO_KEEP);
	cache_store(cache, monotime_add_ms(now, -5000), &key, CACHE_POSITIVE,
	    1, message, length);
	settings.cache.stale_s = 60;
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_THERE);
	settings.cache.stale = STALE_OFF;
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	cache_store(cache, now, &key, CACHE_FAILURE, 60, message, length);
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_THERE);
	cache_store(cache, now, &key, CACHE_NXDOMAIN, 60, message, length);
	CHECK(look("a.test", TYPE_AAAA, false) == EXPRESS_THERE);
	end_cached();
}

static void
what_the_cache_has_nothing_to_do_with(void)
{
	begin_cached();
	make_question("a.test", 1);
	CHECK(express_cached(&asked, fresh, asked.now, found) ==
	    EXPRESS_UNCACHED);		/* there is none */
	asked.caches = true;		/* there is one, not to be read now */
	CHECK(express_cached(&asked, fresh, asked.now, found) ==
	    EXPRESS_THERE && express_is_kept(&asked));
	CHECK(express_upstream(x, &asked) == NULL);
	in.question.flags &= (uint16_t)~DNS_FLAG_RD;
	CHECK(express_cached(&asked, fresh, asked.now, found) ==
	    EXPRESS_UNCACHED);
	CHECK(express_upstream(x, &asked) != NULL);
	settings.domain[0].cache = 0;
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_UNCACHED);
	end_cached();
}

static void
ask_and_keep(struct express_reply *r, uint64_t generation)
{
	struct express_attempt *a;

	CHECK(look("a.test", TYPE_A, false) == EXPRESS_TO_KEEP);
	CHECK(express_upstream(x, &asked) == &settings.upstream[0]);
	CHECK(ask_of(0) == EXPRESS_HELD);
	(void)hear(&servers[0]);
	reply(&servers[0]);
	a = wait_one();
	CHECK(express_receive(x, a, &settings, r) && r->is_answer);
	express_keep(x, a, &settings, generation, r);
	check_answer(STAILQ_FIRST(&a->questions), r, 1);
	express_answered(x, a);
}

/* The clients' TTLs, too, are as the cache has them; the reply's is 60. */
static void
an_answer_is_kept(void)
{
	const struct fresh_answer *a;
	struct express_reply r;

	begin_cached();
	settings.cache.min_ttl_s = 10;
	settings.cache.max_ttl_s = 30;
	ask_and_keep(&r, GENERATION);
	CHECK(r.ttl.min == 10 && r.ttl.max == 30 && r.ttl.age == 0);
	a = fresh_answers_first(fresh);
	MUST(a != NULL);
	CHECK(a->generation == GENERATION && a->ttl_s == 30);
	CHECK(a->kind == CACHE_POSITIVE && a->length > DNS_HEADER);
	CHECK(look("a.test", TYPE_A, false) == EXPRESS_THERE);
	end_cached();
}

/* Its upstream may be another one now. */
static void
an_answer_by_other_settings_is_not_kept(void)
{
	struct express_reply r;

	begin_cached();
	ask_and_keep(&r, GENERATION + 1);
	CHECK(r.ttl.max == UINT32_MAX && fresh_answers_first(fresh) == NULL);
	end_cached();
}

/* Once for all that are kept before, and not for the others. */
static void
the_forwarding_thread_is_woken(void)
{
	struct express_reply r;
	uint64_t woken;
	int wake;

	begin_cached();
	wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	MUST(wake >= 0);
	atomic_store(&board->wake, wake);
	express_tell(x);
	CHECK(read(wake, &woken, sizeof(woken)) < 0);
	ask_and_keep(&r, GENERATION);
	CHECK(read(wake, &woken, sizeof(woken)) < 0);
	express_tell(x);
	CHECK(read(wake, &woken, sizeof(woken)) == sizeof(woken));
	express_tell(x);
	CHECK(read(wake, &woken, sizeof(woken)) < 0);
	(void)close(wake);
	end_cached();
}

int
main(void)
{
	TEST(what_is_on_its_way_is_not_asked);
	TEST(there_is_an_end_to_their_number);
	TEST(what_is_in_the_cache_is_not_asked);
	TEST(what_the_cache_has_nothing_to_do_with);
	TEST(an_answer_is_kept);
	TEST(an_answer_by_other_settings_is_not_kept);
	TEST(the_forwarding_thread_is_woken);
	return test_summary();
}
