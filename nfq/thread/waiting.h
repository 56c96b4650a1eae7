/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many questions of each user wait for upstreams, held by whatever thread.  A
 * queue thread counts one when it reads it, so that one user's flood is refused where
 * it is read.  The TCP thread does the same with those that it has the forwarding
 * thread ask (errands.h); a user's share is of both.
 *
 * Users share counters by a keyed hash.  What the kernel drops on the way to the
 * forwarding thread is never given back: that one counts packets anew at times, and one
 * that is handed over meanwhile may be missed until then.  Errands are not lost.
 */
#ifndef NFDNS_NFQ_THREAD_WAITING_H
#define NFDNS_NFQ_THREAD_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAITING_USERS	4096

struct waiting {
	uint64_t seed;
	_Atomic int32_t all, errands;	/* packets, and errands */
	_Atomic int32_t users[WAITING_USERS], users_errands[WAITING_USERS];
};

/* Nobody waits.  "seed" is unpredictable. */
void waiting_init(struct waiting *waiting, uint64_t seed);

/* A packet of that user is handed over; any thread may call it. */
void waiting_add(struct waiting *waiting, uid_t uid);

/* It has its answer, or passes. */
void waiting_end(struct waiting *waiting, uid_t uid);

/* So many more errands of that user wait; or less, if it is negative. */
void waiting_errands(struct waiting *waiting, uid_t uid, int32_t more);

/* Which of the counters are the user's, below WAITING_USERS. */
size_t waiting_place(const struct waiting *waiting, uid_t uid);

/* Whether as many wait, of the user or of all, as may.  For any thread. */
bool waiting_is_full(const struct waiting *waiting, uid_t uid,
    uint32_t user_max, uint32_t all_max);

/* How many packets wait, as far as is known. */
int32_t waiting_all(const struct waiting *waiting);

/* No packet waits: the caller counts anew. */
void waiting_clear(struct waiting *waiting);

#endif
