/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many questions wait, in all and of each user. */
#include "nfq/forward/thread_state.h"

#define CHECK_EVERY_MS	1000

static void
count_waiting(struct forward_thread *f)
{
	const struct held *h;
	uint32_t place = 0;

	waiting_clear(f->waiting);
	while ((h = held_walk(&f->held, &place)) != NULL)
		waiting_add(f->waiting, h->held.uid);
}

void
forward_check_waiting(struct forward_thread *f)
{
	const int32_t over = waiting_all(f->waiting) - ((int32_t)f->held.count +
	    (int32_t)thread_express_sum(f, FORWARD_HELD));

	f->over_least = over < f->over_least ? over : f->over_least;
	f->over_most = over > f->over_most ? over : f->over_most;
	if (monotime_is_set(f->checked) &&
	    monotime_ms_since(f->boot, f->checked) < CHECK_EVERY_MS)
		return;
	if (f->over_least > 0 || f->over_most < 0)
		count_waiting(f);
	f->checked = f->boot;
	f->over_least = INT32_MAX;
	f->over_most = INT32_MIN;
}
