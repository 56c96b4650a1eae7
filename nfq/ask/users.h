/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many questions each user has, exactly: with counters that users share, one
 * user's flood would now and then be another's, too.
 */
#ifndef NFDNS_NFQ_ASK_USERS_H
#define NFDNS_NFQ_ASK_USERS_H

#include <stdint.h>
#include <sys/types.h>

#define USERS_MAX	1024	/* questions of all of them */

/* Open addressing, at most half full.  All zero but the seed: nobody has any. */
struct users {
	uint64_t seed;			/* unpredictable */
	struct user_count {
		uid_t uid;
		uint32_t questions;	/* 0: the place is free */
	} place[2 * USERS_MAX];
};

/* How many questions the user has now. */
uint32_t users_questions(const struct users *users, uid_t uid);

/* One more question of the user; they are USERS_MAX at most. */
void users_add(struct users *users, uid_t uid);

/* One that was added has ended. */
void users_end(struct users *users, uid_t uid);

#endif
