/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What xds_run() does between two calls of poll(2): which streams there are,
 * when one replaces the other, and what becomes of tables.  Time is a
 * parameter.
 *
 *   no stream --retry--> current --GOAWAY, or it is time--> current and next
 *   next answers: it becomes current, and the old one is cancelled
 *   current ends: next becomes current; or without one: retry after a delay
 *
 * A stream that replaces another never makes anything worse: until it has
 * answered, the old one goes on.
 */
#ifndef NFDNS_RESOLVER_FEED_XDS_SESSION_H
#define NFDNS_RESOLVER_FEED_XDS_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/feed/ads.h"
#include "resolver/feed/backoff.h"
#include "resolver/feed/ca.h"
#include "resolver/feed/feed.h"

#define XDS_FDS		(3 * LINK_FDS)

/* A stream that lived for less is no success, whatever it sent. */
#define XDS_STEADY_MS	10000
/* istiod ends its connections after half an hour; others may never. */
#define XDS_RESYNC_MS	3600000
/* After a refused table nothing but a new stream makes istiod repeat it. */
#define XDS_REFUSED_MS	30000
#define XDS_REFUSED_MOST_MS 600000
/* A table that could not be kept is offered again. */
#define XDS_AGAIN_MS	5000
#define XDS_AGAIN_MOST_MS 60000
/*
 * Keeping a table, with what nfdnsd does with it afterwards, is taken to last
 * XDS_KEEP_MS and a millisecond for each XDS_KEEP_OCTETS octets, and may take one
 * XDS_KEEP_SHARE-th of the time.  Tables that come faster are answered, and the
 * newest of them is kept when its time has come.  XDS_KEEP_CREDIT_MS may be spent
 * in advance, so that what comes rarely is kept at once.
 */
#define XDS_KEEP_MS	10
#define XDS_KEEP_OCTETS	20000
#define XDS_KEEP_SHARE	5
#define XDS_KEEP_CREDIT_MS 10000
/* An address or route is no reason to try anew more often. */
#define XDS_HURRY_MS	5000
/* A certificate and key that do not match: somebody is writing them. */
#define XDS_TORN_MS	1000

/* A table that the host could not keep, or that came too soon. */
struct xds_again {
	uint8_t *message;		/* NULL: there is none */
	struct feed_table table;	/* borrows from all of these */
	struct iovec part;
	char version[FEED_TEXT];
	monotime_t when;
	int64_t delay_ms;
};

struct xds_session {
	const struct feed_config *config;
	const struct feed_host *host;
	struct node_machine machine;
	struct ads *current;		/* NULL: at "retry" there will be one */
	struct ads *next;		/* is to replace it; or NULL */
	monotime_t retry;
	monotime_t hurried;		/* the last attempt that did not wait */
	monotime_t replace;		/* when next is to begin; never: not */
	monotime_t resync;		/* of current */
	monotime_t steady;		/* when current will be a success */
	bool is_steady;			/* it is */
	struct ca ca;			/* if config->ca */
	size_t current_fds, next_fds;	/* as xds_session_poll() laid them out */
	size_t ca_fds;
	struct backoff backoff;
	int64_t refused_ms;
	int64_t ping_ms;
	size_t turn;			/* of addresses */
	bool gave_time;			/* to whoever writes the pair */
	bool refused;			/* the pair, by the server */
	bool changed;			/* the status, for the host */
	struct xds_again again;
	monotime_t spent;		/* until then, keeping has had its share */
	uint64_t random;
};

/*
 * "seed": random bits.  The first attempt is due at "now".  With config->ca,
 * cert and key of the config are the file of the pair that is made.
 */
void xds_session_init(struct xds_session *session,
    const struct feed_config *config, const struct feed_host *host,
    uint64_t seed, monotime_t now);
void xds_session_end(struct xds_session *session);

/* At most XDS_FDS to wait for, and until when. */
size_t xds_session_poll(struct xds_session *session, struct pollfd *fds,
    monotime_t now);
monotime_t xds_session_deadline(struct xds_session *session, monotime_t now);

/* After poll(2). */
void xds_session_step(struct xds_session *session, const struct pollfd *fds,
    monotime_t now);

/* This machine's addresses or routes have changed. */
void xds_session_routes_changed(struct xds_session *session, monotime_t now);

/* The machine slept: whoever was connected may be gone. */
void xds_session_suspect(struct xds_session *session, monotime_t now);

#endif
