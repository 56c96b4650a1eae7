/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/timers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int
timers_init(struct timers *timers, uint32_t most)
{
	timers->count = 0;
	timers->heap = calloc((size_t)most + 1, sizeof(*timers->heap));
	return timers->heap != NULL ? 0 : -ENOMEM;
}

void
timers_free(struct timers *timers)
{
	free(timers->heap);
	timers->heap = NULL;
	timers->count = 0;
}

static void
put(struct timers *timers, uint32_t place, struct timer *timer)
{
	timers->heap[place] = timer;
	timer->place = place;
}

static bool
earlier(const struct timer *a, const struct timer *b)
{
	return a->at.ns < b->at.ns;
}

static void
move_up(struct timers *timers, struct timer *timer)
{
	uint32_t place = timer->place;

	for (; place > 1 && earlier(timer, timers->heap[place / 2]); place /= 2)
		put(timers, place, timers->heap[place / 2]);
	put(timers, place, timer);
}

static void
move_down(struct timers *timers, struct timer *timer)
{
	uint32_t place = timer->place, child;

	for (; (child = place * 2) <= timers->count; place = child) {
		if (child < timers->count &&
		    earlier(timers->heap[child + 1], timers->heap[child]))
			child++;
		if (!earlier(timers->heap[child], timer))
			break;
		put(timers, place, timers->heap[child]);
	}
	put(timers, place, timer);
}

void
timer_set(struct timers *timers, struct timer *timer, monotime_t at)
{
	if (timer->place == 0)
		put(timers, ++timers->count, timer);
	timer->at = at;
	move_up(timers, timer);
	move_down(timers, timer);
}

void
timer_clear(struct timers *timers, struct timer *timer)
{
	struct timer *last;

	if (timer->place == 0)
		return;
	assert(timers->count > 0);
	last = timers->heap[timers->count--];
	if (last != timer) {
		put(timers, timer->place, last);
		move_up(timers, last);
		move_down(timers, last);
	}
	timer->place = 0;
}

struct timer *
timers_first(const struct timers *timers)
{
	return timers->count > 0 ? timers->heap[1] : NULL;
}
