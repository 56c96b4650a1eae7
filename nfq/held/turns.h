/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose question is asked next, of those that a thread holds: users take turns, so
 * that one user's flood stands before nobody else's questions.  Each turn is one
 * question, the oldest of that user.
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
};

struct turns {
	uint64_t seed;			/* unpredictable */
	TAILQ_HEAD(, turn) due;		/* the next one first */
	struct turn turns[TURNS];
};

void turns_init(struct turns *turns, uint64_t seed);

/* It waits, by its held.uid. */
void turns_add(struct turns *turns, struct held *held);

/* The next one, which waits no more; its user's next comes behind the other
 * users'.  NULL: none waits. */
struct held *turns_take(struct turns *turns);

static inline bool
turns_are_over(const struct turns *turns)
{
	return TAILQ_EMPTY(&turns->due);
}

#endif
