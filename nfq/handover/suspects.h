/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users whose packets end workers.  Each such packet costs all users the start
 * of a worker, so a user who sends a thousand of them a second would keep the
 * others from their answers.  Such a user is a suspect for a term: the packets
 * of suspects pass unread, as if nfdns were not installed.  Each term is twice
 * as long as the one before.  Nameservers whose replies end workers are kept the
 * same way, by a number: nothing is asked of them for a term.  Times are milliseconds of the monotonic clock,
 * and "now" is a parameter.
 */
#ifndef NFDNS_NFQ_HANDOVER_SUSPECTS_H
#define NFDNS_NFQ_HANDOVER_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUSPECTS		32	/* users that are remembered */
#define SUSPECTS_CRASH		1	/* points for a packet that crashed a worker */
#define SUSPECTS_HANG		2	/* for one that hung it, which costs more */
#define SUSPECTS_REPLY		2	/* for a nameserver's reply */
#define SUSPECTS_LIMIT		3	/* points that begin the first term... */
#define SUSPECTS_WINDOW_MS	10000	/* ...with at most this between offences */
#define SUSPECTS_TERM_MS	10000	/* length of the first term */
#define SUSPECTS_DOUBLINGS	6	/* the longest term is 640 s */
#define SUSPECTS_MEMORY_MS	1800000	/* terms are forgotten after so long */

struct suspect {
	bool used;			/* else this entry is free */
	uid_t uid;			/* (uid_t)-1: packets of no known user */
	unsigned int points;
	unsigned int terms;		/* so far, SUSPECTS_DOUBLINGS at most */
	int64_t last_ms;		/* time of the last offence */
	int64_t until_ms;		/* end of the last term; 0: none so far */
};

struct suspects {
	struct suspect list[SUSPECTS];
};

/*
 * Takes note that a packet of this user ended a worker.  Returns true if a term
 * begins; *until_ms is its end.  After a first term, a single offence begins
 * the next.
 */
bool suspects_offend(struct suspects *suspects, uid_t uid, unsigned int points,
    int64_t now_ms, int64_t *until_ms);

/* How many users are suspects now. */
size_t suspects_count(const struct suspects *suspects, int64_t now_ms);

/* Whether this user is a suspect now. */
bool suspects_has(const struct suspects *suspects, uid_t uid, int64_t now_ms);

#endif
