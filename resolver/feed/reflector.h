/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a mirror of one kind of objects: decides what to ask the API server for
 * and when, and what follows from each answer.  It has no socket and no clock:
 * its owner sends the requests that it wants, hands it what comes back, and
 * says what time it is.
 *
 *   first     a list: from the server's cache, in pages
 *   then      a watch from the version of the list; when it ends as planned,
 *             another one from the last version seen
 *   410       a list at the last version; then one at the newest.  Of a page:
 *             the whole list without pages
 *   504 with ResourceVersionTooLarge      a list at the newest version
 *   401       once at once (the token is read anew), then with back-off
 *   403       slowly again; the other kinds go on
 *   404       the kind does not exist here: asked again every few minutes
 *   429, lost connections and the rest    the same again, with back-off
 *   500 within a watch        the same watch, three times; then a list at the newest
 *             version; then the same watch without lists
 */
#ifndef NFDNS_RESOLVER_FEED_REFLECTOR_H
#define NFDNS_RESOLVER_FEED_REFLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/clock.h"
#include "resolver/feed/backoff.h"
#include "resolver/feed/feed.h"
#include "resolver/feed/kube_mirror.h"

#define REFLECTOR_TARGET_SIZE	((size_t)16 << 10)

/* Milliseconds, but for the stumbles. */
#define REFLECTOR_LIST_SILENCE	60000	/* then a list is given up */
#define REFLECTOR_LIST_WHOLE	600000	/* also if octets trickle in */
#define REFLECTOR_WATCH_SILENCE	180000	/* bookmarks come about every minute */
#define REFLECTOR_SHORT_WATCH	1000	/* ended sooner without an event: fault */
#define REFLECTOR_CALM		120000	/* without a failure: back-off begins anew */
#define REFLECTOR_RESYNC	21600000 /* six hours: a list, for no reason */
#define REFLECTOR_STUMBLES	3	/* then a list instead of another watch */
#define REFLECTOR_GONE_AGAIN	10000	/* 404 of a kind that was there */
#define REFLECTOR_ABSENT	120000	/* to twice of it: 404 of one that was not */

enum reflector_ask {
	REFLECTOR_ASK_LIST,
	REFLECTOR_ASK_WATCH,
};

/* The version that a list is asked for. */
enum reflector_from {
	REFLECTOR_FROM_CACHE,		/* "0": any */
	REFLECTOR_FROM_LAST,		/* not older than what was seen */
	REFLECTOR_FROM_LATEST,		/* none: the newest */
};

struct reflector {
	struct kube_mirror mirror;
	const char *namespace;		/* borrowed; NULL: all */
	enum reflector_ask ask;		/* next, or running */
	enum reflector_from from;
	bool running;			/* a request was sent */
	bool unpaged;			/* the list in one piece */
	bool failing;			/* the last answer was not as it should be */
	bool absent;			/* the server has no such kind */
	bool refused;			/* 403, twice in a row */
	unsigned int denials;		/* 401s, 403s or 404s in a row */
	unsigned int stumbles;		/* watches that broke by what they said */
	bool listed_newest;		/* and that did not help: no list again */
	unsigned int http;		/* status of the answer; 0: none yet */
	enum kube_result result;	/* of its body so far */
	monotime_t due;			/* of the next request */
	monotime_t started;		/* the running one */
	monotime_t heard;		/* its last octet */
	monotime_t listed;		/* last time that the store was replaced */
	monotime_t failed;
	monotime_t expired;
	struct backoff backoff;
	char error[FEED_TEXT];		/* printable; "" while all is well */
};

/* How a transfer ended, for reflector_end(). */
struct reflector_end {
	bool whole;			/* as HTTP wants it; else the two below */
	enum feed_cause cause;
	const char *why;		/* printable */
	unsigned int retry_after;	/* seconds, as the answer says; or 0 */
};

/* "random" seeds the store.  The first request is due at once. */
void reflector_init(struct reflector *r, const struct kube_kind *kind,
    const char *namespace, struct kube_room *room, uint64_t random);
void reflector_free(struct reflector *r);

/* Whether a request is to be sent now. */
bool reflector_is_due(const struct reflector *r, monotime_t now);

/*
 * When to look again: at the next request, or when the running one has been
 * silent for too long.
 */
monotime_t reflector_deadline(const struct reflector *r);

/* Whether the running request has to be given up by reflector_end(). */
bool reflector_is_silent(const struct reflector *r, monotime_t now);

/* Begins the request that is due; "target" is its path and query. */
void reflector_start(struct reflector *r, monotime_t now, uint64_t random,
    char target[static REFLECTOR_TARGET_SIZE]);

/* The status of the answer, before its body. */
void reflector_head(struct reflector *r, monotime_t now, unsigned int http);

/* A piece of the body.  False: the transfer is to be given up. */
bool reflector_body(struct reflector *r, monotime_t now, const void *octets,
    size_t length);

/*
 * The transfer is over.  Returns why a connection ended that was wanted, or
 * FEED_CAUSES if none did.
 */
enum feed_cause reflector_end(struct reflector *r, monotime_t now,
    uint64_t random, const struct reflector_end *end);

/*
 * Asks for a list at the newest version, to see whether the server really means
 * what it said.  A running request is the owner's to give up first.
 */
void reflector_relist(struct reflector *r, monotime_t now);

/* Whether a table can be made as far as this kind goes. */
bool reflector_is_settled(const struct reflector *r);

#endif
