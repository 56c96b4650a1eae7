/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users whose packets ended workers again and again.  One worker start is what
 * such a packet costs everybody; a user who sends a thousand of them a second
 * must not keep the others from their answers.  So for a term the packets of
 * that user pass unread, as if nfdns were not there; each term is twice as long
 * as the one before.  Time is a parameter.
 */
#ifndef NFDNS_NFQ_HANDOVER_SUSPECTS_H
#define NFDNS_NFQ_HANDOVER_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUSPECTS		32	/* users that are remembered */
#define SUSPECTS_CRASH		1	/* points of a packet that crashed a worker */
#define SUSPECTS_HANG		2	/* and that hung one: it cost more */
#define SUSPECTS_LIMIT		3	/* points until the term begins... */
#define SUSPECTS_WINDOW_MS	10000	/* ...if they come within this */
#define SUSPECTS_TERM_MS	10000	/* the first term */
#define SUSPECTS_DOUBLINGS	6	/* the longest is ten minutes and a bit */
#define SUSPECTS_MEMORY_MS	1800000	/* after so long all is forgotten */

struct suspect {
	bool used;
	uid_t uid;			/* (uid_t)-1: packets of no known user */
	unsigned int points;
	unsigned int terms;		/* so far */
	int64_t last_ms;		/* its last offence */
	int64_t until_ms;		/* end of the term; 0: none so far */
};

struct suspects {
	struct suspect list[SUSPECTS];
};

/*
 * A packet of this user ended a worker.  True if a term begins, whose end is
 * *until_ms then.  After a first term one offence is enough for the next.
 */
bool suspects_offend(struct suspects *suspects, uid_t uid, unsigned int points,
    int64_t now_ms, int64_t *until_ms);

/* How many terms run at this time. */
size_t suspects_count(const struct suspects *suspects, int64_t now_ms);

/* Whether one of this user runs. */
bool suspects_has(const struct suspects *suspects, uid_t uid, int64_t now_ms);

#endif
