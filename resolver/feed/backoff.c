/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/backoff.h"

int64_t
backoff_spread(int64_t most, uint64_t random)
{
	return most <= 0 ? 0 : (int64_t)(random % ((uint64_t)most + 1));
}

int64_t
backoff_next_ms(struct backoff *backoff, uint64_t random)
{
	int64_t ceiling = backoff->ceiling_ms;

	if (ceiling < BACKOFF_FIRST_MS)
		ceiling = BACKOFF_FIRST_MS;
	backoff->ceiling_ms = ceiling * 8 / 5;
	if (backoff->ceiling_ms > BACKOFF_MOST_MS)
		backoff->ceiling_ms = BACKOFF_MOST_MS;
	return backoff_spread(ceiling, random);
}

int64_t
backoff_slow_ms(struct backoff *backoff, uint64_t random)
{
	backoff->ceiling_ms = BACKOFF_MOST_MS;
	return BACKOFF_MOST_MS / 2 + backoff_spread(BACKOFF_MOST_MS / 2, random);
}

int64_t
backoff_planned_ms(uint64_t random)
{
	return backoff_spread(BACKOFF_PLANNED_MS, random);
}

void
backoff_reset(struct backoff *backoff)
{
	backoff->ceiling_ms = 0;
}
