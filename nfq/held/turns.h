/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose question is asked next, of those that a thread holds: users take turns, so
 * that one user's flood stands before nobody else's questions.  Each turn is one
 * question, the oldest of that user.  Here is counted, too, how many each user has.
 *
 * Users share turns by a keyed hash, as in stochastic fairness queueing.
 */
#ifndef NFDNS_NFQ_HELD_TURNS_H
#define NFDNS_NFQ_HELD_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/held/held.h"

#define TURNS	1024

struct turn {
	STAILQ_HEAD(, held) waiting;	/* the oldest first */
	TAILQ_ENTRY(turn) entry;	/* if there are any */
	uint32_t held;			/* that wait, or were asked */
};

struct turns {
	uint64_t seed;			/* unpredictable */
	TAILQ_HEAD(, turn) due;		/* the next one first */
	struct turn turns[TURNS];
};

void turns_init(struct turns *turns, uint64_t seed);

/* How many questions of the user are held: added, and not ended. */
uint32_t turns_held(const struct turns *turns, uid_t uid);

/* It waits, by its held.uid. */
void turns_add(struct turns *turns, struct held *held);

/* One that was taken is held no more. */
void turns_end(struct turns *turns, const struct held *held);

/* The next one, which waits no more; its user's next comes behind the other
 * users'.  NULL: none waits. */
struct held *turns_take(struct turns *turns);

static inline bool
turns_are_over(const struct turns *turns)
{
	return TAILQ_EMPTY(&turns->due);
}

#endif
