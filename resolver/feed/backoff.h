/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long to wait before the next attempt.  Pure: random numbers are
 * parameters, so that tests/fleet can compute with this very code what a
 * million machines do to one control plane.
 *
 * Full jitter: the delay is anywhere between nothing and a ceiling, which grows
 * from 0.5 s by 1.6 to 30 s.  Machines that lost the same server at the same
 * moment are then spread evenly.
 */
#ifndef NFDNS_RESOLVER_FEED_BACKOFF_H
#define NFDNS_RESOLVER_FEED_BACKOFF_H

#include <stdint.h>

#define BACKOFF_FIRST_MS	500
#define BACKOFF_MOST_MS		30000
/* After a clean GOAWAY: the server ends all its clients at about the same time. */
#define BACKOFF_PLANNED_MS	2000

struct backoff {
	int64_t ceiling_ms;		/* of the next delay; 0: the first */
};

/* After an attempt that failed: milliseconds to wait. */
int64_t backoff_next_ms(struct backoff *backoff, uint64_t random);

/*
 * After a refusal that another attempt will not heal: at least half of the
 * longest delay.
 */
int64_t backoff_slow_ms(struct backoff *backoff, uint64_t random);

/* Before a planned change of connections. */
int64_t backoff_planned_ms(uint64_t random);

/* A table was received: only that is a success. */
void backoff_reset(struct backoff *backoff);

/* A number from 0 to most, from random bits. */
int64_t backoff_spread(int64_t most, uint64_t random);

#endif
