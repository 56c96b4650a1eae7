/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments at which something is due, the earliest first: a binary heap. */
#ifndef NFDNS_NFQ_ASK_TIMERS_H
#define NFDNS_NFQ_ASK_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/clock.h"

/* Stands in what it belongs to.  All zero: not set. */
struct timer {
	monotime_t at;
	uint32_t place;			/* in the heap, from 1; 0: not set */
	uint32_t owner;			/* the caller's */
};

struct timers {
	struct timer **heap;		/* from 1 */
	uint32_t count;
};

/* Room for so many that are set at once.  0 or -ENOMEM. */
int timers_init(struct timers *timers, uint32_t most)
    __attribute__((warn_unused_result));

void timers_free(struct timers *timers);

/* Sets a timer, or moves it if it is set. */
void timer_set(struct timers *timers, struct timer *timer, monotime_t at);

/* Does nothing if it is not set. */
void timer_clear(struct timers *timers, struct timer *timer);

/* The earliest, or NULL. */
struct timer *timers_first(const struct timers *timers);

#endif
