/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap against a look at all timers, over moves that a seed chooses. */
#include "nfq/ask/timers.h"

#include <stdlib.h>

#include "tests/check.h"

#define TIMERS	40

static struct timer timer[TIMERS];
static struct timers timers;

/* Whether the first is none, or set and none is earlier. */
static bool
first_is_right(void)
{
	const struct timer *first = timers_first(&timers);
	unsigned int set = 0, later = 0;

	for (size_t i = 0; i < TIMERS; i++) {
		set += timer[i].place != 0;
		later += timer[i].place != 0 && first != NULL &&
		    monotime_ms_since(timer[i].at, first->at) >= 0;
	}
	return (first != NULL) == (set > 0) && later == set;
}

TEST(the_first_is_the_earliest)
{
	unsigned int wrong = 0;

	CHECK(timers_init(&timers, TIMERS) == 0);
	srandom(1);
	for (int turn = 0; turn < 20000; turn++) {
		struct timer *one = &timer[random() % TIMERS];

		if (random() % 3 == 0)
			timer_clear(&timers, one);
		else
			timer_set(&timers, one,
			    monotime_from_ms(1 + random() % 1000));
		wrong += !first_is_right();
	}
	CHECK(wrong == 0);
	timers_free(&timers);
}
