/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the next attempt waits. */
#include "resolver/feed/backoff.h"

#include "tests/check.h"

/* With these random bits a spread of "most" is most itself. */
static int64_t
longest(struct backoff *b, int64_t ceiling)
{
	return backoff_next_ms(b, (uint64_t)ceiling);
}

TEST(grows_to_a_ceiling)
{
	static const int64_t ceilings[] = { 500, 800, 1280, 2048, 3276, 5241,
		8385, 13416, 21465, 30000, 30000, 30000 };
	struct backoff b = { 0 };

	for (size_t i = 0; i < sizeof(ceilings) / sizeof(*ceilings); i++)
		CHECK(longest(&b, ceilings[i]) == ceilings[i]);
	backoff_reset(&b);
	CHECK(longest(&b, 500) == 500);
}

TEST(jitter_is_full)
{
	uint64_t random = 1;
	int64_t sum = 0, least = 1000000, most = 0;

	for (int i = 0; i < 100000; i++) {
		struct backoff b = { .ceiling_ms = BACKOFF_MOST_MS };
		int64_t ms;

		random = random * 6364136223846793005u + 1442695040888963407u;
		ms = backoff_next_ms(&b, random >> 16);
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
		sum += ms;
	}
	CHECK(least >= 0 && least < 100);
	CHECK(most <= 30000 && most > 29900);
	CHECK(sum / 100000 > 14800 && sum / 100000 < 15200);
}

TEST(lasting_refusals_wait_longest)
{
	struct backoff b = { 0 };

	CHECK(backoff_slow_ms(&b, 0) == 15000);
	CHECK(backoff_slow_ms(&b, 15000) == 30000);
	/* And whatever fails next does not begin at 0.5 s again. */
	CHECK(backoff_next_ms(&b, 30000) == 30000);
}

TEST(planned_is_soon)
{
	CHECK(backoff_planned_ms(0) == 0);
	CHECK(backoff_planned_ms(2000) == 2000);
	CHECK(backoff_planned_ms(UINT64_MAX) <= 2000);
}
