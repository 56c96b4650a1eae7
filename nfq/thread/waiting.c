/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/waiting.h"

#include <xxhash.h>

void
waiting_init(struct waiting *w, uint64_t seed)
{
	w->seed = seed;
	atomic_init(&w->all, 0);
	for (size_t i = 0; i < WAITING_USERS; i++)
		atomic_init(&w->users[i], 0);
}

static size_t
place_of(const struct waiting *w, uid_t uid)
{
	return XXH3_64bits_withSeed(&uid, sizeof(uid), w->seed) %
	    WAITING_USERS;
}

void
waiting_add(struct waiting *w, uid_t uid)
{
	atomic_fetch_add_explicit(&w->all, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->users[place_of(w, uid)], 1,
	    memory_order_relaxed);
}

void
waiting_end(struct waiting *w, uid_t uid)
{
	atomic_fetch_sub_explicit(&w->all, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&w->users[place_of(w, uid)], 1,
	    memory_order_relaxed);
}

/* Below zero: questions that a worker before this one had handed over. */
static bool
is_above(int32_t count, uint32_t max)
{
	return count > 0 && (uint32_t)count >= max;
}

bool
waiting_is_full(const struct waiting *w, uid_t uid, uint32_t user_max,
    uint32_t all_max)
{
	const int32_t all = waiting_all(w);

	return is_above(all, all_max) || (is_above(all, user_max) &&
	    is_above(atomic_load_explicit(&w->users[place_of(w, uid)],
	    memory_order_relaxed), user_max));
}

int32_t
waiting_all(const struct waiting *w)
{
	return atomic_load_explicit(&w->all, memory_order_relaxed);
}

void
waiting_clear(struct waiting *w)
{
	atomic_store_explicit(&w->all, 0, memory_order_relaxed);
	for (size_t i = 0; i < WAITING_USERS; i++)
		atomic_store_explicit(&w->users[i], 0, memory_order_relaxed);
}
