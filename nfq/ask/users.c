/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/ask/users.h"

#include <xxhash.h>

#define MASK	(2U * USERS_MAX - 1)

static uint32_t
home_of(const struct users *u, uid_t uid)
{
	return (uint32_t)XXH3_64bits_withSeed(&uid, sizeof(uid), u->seed) & MASK;
}

/* The user's place, or the free one that would be. */
static uint32_t
find(const struct users *u, uid_t uid)
{
	uint32_t at = home_of(u, uid);

	while (u->place[at].questions > 0 && u->place[at].uid != uid)
		at = (at + 1) & MASK;
	return at;
}

uint32_t
users_questions(const struct users *u, uid_t uid)
{
	return u->place[find(u, uid)].questions;
}

void
users_add(struct users *u, uid_t uid)
{
	struct user_count *user = &u->place[find(u, uid)];

	user->uid = uid;
	user->questions++;
}

/* Those behind it that could not have its place move up. */
static void
free_place(struct users *u, uint32_t hole)
{
	for (uint32_t at = (hole + 1) & MASK; u->place[at].questions > 0;
	    at = (at + 1) & MASK) {
		const uint32_t home = home_of(u, u->place[at].uid);

		/* The hole is not between its home and its place. */
		if (((at - home) & MASK) < ((at - hole) & MASK))
			continue;
		u->place[hole] = u->place[at];
		hole = at;
	}
	u->place[hole].questions = 0;
}

void
users_end(struct users *u, uid_t uid)
{
	const uint32_t at = find(u, uid);

	if (--u->place[at].questions == 0)
		free_place(u, at);
}
