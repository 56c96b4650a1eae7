/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/express_turns.h"

#include <stddef.h>
#include <xxhash.h>

void
express_turns_init(struct express_turns *t, uint64_t seed)
{
	t->seed = seed;
	TAILQ_INIT(&t->due);
	for (size_t i = 0; i < EXPRESS_TURNS; i++)
		TAILQ_INIT(&t->turns[i].waiting);
}

static struct express_turn *
turn_of(struct express_turns *t, uid_t uid)
{
	return &t->turns[XXH3_64bits_withSeed(&uid, sizeof(uid), t->seed) %
	    EXPRESS_TURNS];
}

static void
add(struct express_turns *t, struct express_attempt *a,
    struct express_turn *turn)
{
	if (TAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	TAILQ_INSERT_TAIL(&turn->waiting, a, entry);
	turn->count++;
	a->turn = turn;
}

void
express_turns_add(struct express_turns *t, struct express_attempt *a, uid_t uid)
{
	add(t, a, turn_of(t, uid));
}

void
express_turns_join(struct express_turns *t, struct express_attempt *a,
    uid_t uid)
{
	struct express_turn *turn = turn_of(t, uid);

	if (turn->count >= a->turn->count ||
	    TAILQ_FIRST(&a->turn->waiting) == a)
		return;
	/* The first of its turn stays, so the turn keeps its place. */
	TAILQ_REMOVE(&a->turn->waiting, a, entry);
	a->turn->count--;
	add(t, a, turn);
}

struct express_attempt *
express_turns_next(const struct express_turns *t)
{
	const struct express_turn *first = TAILQ_FIRST(&t->due);

	return first == NULL ? NULL : TAILQ_FIRST(&first->waiting);
}

void
express_turns_remove(struct express_turns *t, struct express_attempt *a)
{
	struct express_turn *turn = a->turn;

	TAILQ_REMOVE(&turn->waiting, a, entry);
	turn->count--;
	TAILQ_REMOVE(&t->due, turn, entry);
	if (!TAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	a->turn = NULL;
}
