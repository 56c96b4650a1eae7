/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open connections, and which of them has to go for a new one.  A connection
 * has one request and PEERS_LIFE_MS, however it behaves.  No system call; time is
 * a parameter.
 */
#ifndef NFDNS_NFQ_METRICS_PEERS_H
#define NFDNS_NFQ_METRICS_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "resolver/clock.h"

#define PEERS_MAX	64	/* connections in all */
#define PEERS_OF_USER	16	/* of one user, where the user is known */
#define PEERS_LIFE_MS	10000
#define PEERS_UNKNOWN	((uid_t)-1)	/* over IP */

struct peer {
	int fd;			/* -1: the place is free */
	uid_t uid;		/* PEERS_UNKNOWN: not known */
	monotime_t since;
	bool told;		/* peers_overdue() gave it */
};

struct peers {
	struct peer list[PEERS_MAX];
};

void peers_init(struct peers *peers);

/*
 * The connection that has to be closed before this user may have another: his
 * oldest if he has PEERS_OF_USER; if there are PEERS_MAX, the oldest of the user
 * who has most.  NULL: none has to.
 */
struct peer *peers_victim(struct peers *peers, uid_t uid);

/* Takes a place; NULL if all are taken. */
struct peer *peers_add(struct peers *peers, int fd, uid_t uid, monotime_t now);
void peers_remove(struct peer *peer);

/* A connection whose time is over, each only once; NULL: no more. */
struct peer *peers_overdue(struct peers *peers, monotime_t now);

/* Milliseconds until the next one is, at most "most". */
int peers_wait(const struct peers *peers, monotime_t now, int most);

#endif
