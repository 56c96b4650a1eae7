/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/waiting.h"

#include <xxhash.h>

void
waiting_init(struct waiting *w, uint64_t seed)
{
	w->seed = seed;
	atomic_init(&w->all, 0);
	atomic_init(&w->errands, 0);
	for (size_t i = 0; i < WAITING_USERS; i++) {
		atomic_init(&w->users[i], 0);
		atomic_init(&w->users_errands[i], 0);
	}
}

size_t
waiting_place(const struct waiting *w, uid_t uid)
{
	return XXH3_64bits_withSeed(&uid, sizeof(uid), w->seed) %
	    WAITING_USERS;
}

void
waiting_add(struct waiting *w, uid_t uid)
{
	atomic_fetch_add_explicit(&w->all, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->users[waiting_place(w, uid)], 1,
	    memory_order_relaxed);
}

void
waiting_end(struct waiting *w, uid_t uid)
{
	atomic_fetch_sub_explicit(&w->all, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&w->users[waiting_place(w, uid)], 1,
	    memory_order_relaxed);
}

void
waiting_errands(struct waiting *w, uid_t uid, int32_t more)
{
	atomic_fetch_add_explicit(&w->errands, more, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->users_errands[waiting_place(w, uid)],
	    more, memory_order_relaxed);
}

/* Below zero: packets that a worker before this one had handed over. */
static bool
is_above(const _Atomic int32_t *packets, const _Atomic int32_t *errands,
    uint32_t max)
{
	const int32_t p = atomic_load_explicit(packets, memory_order_relaxed);
	const int32_t e = atomic_load_explicit(errands, memory_order_relaxed);

	return (int64_t)(p > 0 ? p : 0) + e >= max;
}

bool
waiting_is_full(const struct waiting *w, uid_t uid, uint32_t user_max,
    uint32_t all_max)
{
	size_t place;

	if (is_above(&w->all, &w->errands, all_max))
		return true;
	if (!is_above(&w->all, &w->errands, user_max))
		return false;
	place = waiting_place(w, uid);
	return is_above(&w->users[place], &w->users_errands[place], user_max);
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
