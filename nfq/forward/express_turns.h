/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose question is asked next, of those that a queue thread holds (express.h): users
 * take turns, so that one user's flood stands before nobody else's questions.  Each
 * turn is one question, the oldest of that user.
 *
 * Users share turns by a keyed hash, as in stochastic fairness queueing.
 */
#ifndef NFDNS_NFQ_FORWARD_EXPRESS_TURNS_H
#define NFDNS_NFQ_FORWARD_EXPRESS_TURNS_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "nfq/forward/express.h"

#define EXPRESS_TURNS	256

TAILQ_HEAD(express_attempts, express_attempt);

struct express_turn {
	struct express_attempts waiting;	/* the oldest first */
	unsigned int count;		/* of them */
	TAILQ_ENTRY(express_turn) entry;	/* if there are any */
};

TAILQ_HEAD(express_turn_list, express_turn);

struct express_turns {
	uint64_t seed;			/* unpredictable */
	struct express_turn_list due;	/* the next one first */
	struct express_turn turns[EXPRESS_TURNS];
};

void express_turns_init(struct express_turns *turns, uint64_t seed);

/* An attempt for that user's question waits. */
void express_turns_add(struct express_turns *turns,
    struct express_attempt *attempt, uid_t uid);

/* Another user waits for the same: it comes with whose turn has fewer. */
void express_turns_join(struct express_turns *turns,
    struct express_attempt *attempt, uid_t uid);

/* The next one; NULL: none waits. */
struct express_attempt *express_turns_next(const struct express_turns *turns);

/* It waits no more, and its user's next one comes behind the other users'. */
void express_turns_remove(struct express_turns *turns,
    struct express_attempt *attempt);

#endif
