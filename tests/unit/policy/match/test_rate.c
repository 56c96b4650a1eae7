/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/rate.h"
#include "tests/check.h"

#define BITS	12

static struct rate_table *table;
static struct asker asker;
static struct dns_name name;
static const struct rules_question question = { .name = &name,
	.type = 1, .asker = &asker };

static struct rules_rule
rule_of(const char *text, uint32_t limit, enum rule_per per)
{
	return (struct rules_rule){ .name = text,
		.name_length = (uint8_t)strlen(text),
		.rate = { limit, per } };
}

static void
begin(void)
{
	uint8_t secret[RATE_SECRET];

	for (size_t i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(i * 37 + 11);
	table = rate_new(BITS, secret);
	CHECK(table != NULL);
	name = (struct dns_name){ .length = 3, .labels = 1,
		.octets = "\1a" };
	asker = (struct asker){ .uid = 1, .gid = 1, .family = AF_INET,
		.now = monotime_from_ms(1000000) };
}

/* How many of "count" questions at this moment are within the limit. */
static unsigned int
take(const struct rules_rule *rule, unsigned int count)
{
	unsigned int taken = 0;

	while (count-- > 0)
		taken += rate_take(table, rule, &question);
	return taken;
}

TEST(a_bucket_fills_as_time_goes)
{
	const struct rules_rule rule = rule_of("r", 200, RULE_PER_USER);

	begin();
	CHECK(take(&rule, 1000) == 200);
	asker.now.ns += 5000000 - 1;
	CHECK(take(&rule, 10) == 0);
	asker.now.ns += 1;
	CHECK(take(&rule, 10) == 1);
	asker.now.ns += 1000000000;
	CHECK(take(&rule, 1000) == 200);
	/* It never holds more than the burst. */
	asker.now.ns += INT64_C(3600000000000);
	CHECK(take(&rule, 1000) == 200);
	/* Another thread's batch was read a little earlier. */
	asker.now.ns -= 1000000;
	CHECK(take(&rule, 10) == 0);
	rate_free(table);
}

TEST(keys_are_what_per_says)
{
	static const uint8_t one[4] = { 10, 0, 0, 1 }, two[4] = { 10, 0, 0, 2 };
	const struct rules_rule user = rule_of("u", 1, RULE_PER_USER);
	const struct rules_rule client = rule_of("c", 1, RULE_PER_CLIENT);
	const struct rules_rule by_name = rule_of("n", 1, RULE_PER_NAME);
	const struct rules_rule all = rule_of("r", 1, RULE_PER_RULE);

	begin();
	asker.address = one;
	CHECK(take(&user, 2) == 1 && take(&client, 2) == 1);
	CHECK(take(&by_name, 2) == 1 && take(&all, 2) == 1);
	asker.uid = 2;
	CHECK(take(&user, 2) == 1 && take(&client, 2) == 0);
	CHECK(take(&by_name, 2) == 0 && take(&all, 2) == 0);
	asker.address = two;
	CHECK(take(&user, 2) == 0 && take(&client, 2) == 1);
	CHECK(take(&by_name, 2) == 0 && take(&all, 2) == 0);
	name.octets[1] = 'b';
	CHECK(take(&by_name, 2) == 1 && take(&all, 2) == 0);
	/* Of users that are not known, the address. */
	asker.uid = (uid_t)-1;
	CHECK(take(&user, 2) == 1);
	asker.address = one;
	CHECK(take(&user, 2) == 1);
	rate_free(table);
}

/* A name that nobody has asked for yet. */
static void
other_name(uint32_t n)
{
	name.length = 6;
	name.octets[0] = 4;
	memcpy(name.octets + 1, &n, sizeof(n));
	name.octets[5] = 0;
}

/*
 * A user who asks for ever new names, 50,000 a second, finds no room for all
 * and takes none from the user who is at the limit.
 */
TEST(a_flood_of_keys_lifts_no_limit)
{
	const struct rules_rule flood = rule_of("n", 1, RULE_PER_NAME);
	const struct rules_rule rule = rule_of("u", 100, RULE_PER_USER);
	unsigned int victims[50] = { 0 };
	uint32_t n = 0;

	begin();
	for (unsigned int tick = 0; tick < 5000; tick++) {
		asker.now.ns += 1000000;
		asker.uid = 666;
		for (unsigned int i = 0; i < 50; i++) {
			other_name(n++);
			/* Full or not, no new name is limited. */
			CHECK(rate_take(table, &flood, &question));
		}
		for (unsigned int u = 0; u < 50; u++) {
			asker.uid = 1000 + u;
			victims[u] += rate_take(table, &rule, &question);
		}
	}
	CHECK(rate_full(table) > 0);
	for (unsigned int u = 0; u < 50; u++) {
		if (victims[u] < 590 || victims[u] > 612)
			printf("  user %u: %u, 600 allowed\n", u, victims[u]);
		CHECK(victims[u] >= 590 && victims[u] <= 612);
	}
	printf("figure: %u keys of one user, %llu buckets gave way; 50 others"
	    " keep their limit\n", n, (unsigned long long)rate_full(table));
	rate_free(table);
}

static void *
take_in_a_thread(void *arg)
{
	const struct rules_rule rule = rule_of("t", 100000, RULE_PER_RULE);
	struct asker own = asker;
	const struct rules_question mine = { .name = &name,
		.type = 1, .asker = &own };
	unsigned int *taken = arg;

	for (unsigned int i = 0; i < 100000; i++)
		*taken += rate_take(table, &rule, &mine);
	return NULL;
}

TEST(threads_share_a_bucket)
{
	pthread_t threads[4];
	unsigned int taken[4] = { 0 }, sum = 0;

	begin();
	(void)rate_take(table, &(struct rules_rule){ .name = "t",
	    .name_length = 1, .rate = { 100000, RULE_PER_RULE } }, &question);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, take_in_a_thread,
		    &taken[i]) == 0);
	for (int i = 0; i < 4; i++) {
		CHECK(pthread_join(threads[i], NULL) == 0);
		sum += taken[i];
	}
	CHECK(sum == 99999);
	rate_free(table);
}
