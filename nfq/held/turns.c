/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/held.h"

#include <stddef.h>
#include <xxhash.h>

void
turns_init(struct turns *t, uint64_t seed)
{
	t->seed = seed;
	TAILQ_INIT(&t->due);
	for (size_t i = 0; i < TURNS; i++)
		STAILQ_INIT(&t->turns[i].waiting);
}

static size_t
turn_of(const struct turns *t, uid_t uid)
{
	return XXH3_64bits_withSeed(&uid, sizeof(uid), t->seed) % TURNS;
}

void
turns_add(struct turns *t, struct held *h)
{
	struct turn *turn = &t->turns[turn_of(t, h->held.uid)];

	if (STAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	STAILQ_INSERT_TAIL(&turn->waiting, h, turn);
}

struct held *
turns_take(struct turns *t)
{
	struct turn *turn = TAILQ_FIRST(&t->due);
	struct held *h;

	if (turn == NULL)
		return NULL;
	h = STAILQ_FIRST(&turn->waiting);
	STAILQ_REMOVE_HEAD(&turn->waiting, turn);
	TAILQ_REMOVE(&t->due, turn, entry);
	if (!STAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	return h;
}
