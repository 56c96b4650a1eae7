/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to ask the peer of a silent connection for a sign of life (HTTP/2 PING).
 * Pure: time is a parameter.
 *
 * istiod ends connections whose pings come less than 15 s apart; whatever else
 * stands between may be stricter, says so by GOAWAY with "too_many_pings", and
 * the interval is doubled for good.
 */
#ifndef NFDNS_RESOLVER_FEED_KEEPALIVE_H
#define NFDNS_RESOLVER_FEED_KEEPALIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/clock.h"

#define KEEPALIVE_INTERVAL_MS	30000
#define KEEPALIVE_INTERVAL_MOST_MS ((int64_t)16 * 60000)
#define KEEPALIVE_APART_MS	15000
#define KEEPALIVE_TIMEOUT_MS	10000

enum keepalive_step {
	KEEPALIVE_WAIT,			/* until keepalive_deadline() */
	KEEPALIVE_PING,			/* send one, then keepalive_sent() */
	KEEPALIVE_DEAD,			/* no octet since the ping */
};

struct keepalive {
	int64_t interval_ms;
	monotime_t heard;		/* the last octet from the peer */
	monotime_t sent;		/* the last ping; never: none */
	bool waits;			/* nothing was heard since it was sent */
};

void keepalive_start(struct keepalive *keepalive, int64_t interval_ms,
    monotime_t now);
void keepalive_heard(struct keepalive *keepalive, monotime_t now);
void keepalive_sent(struct keepalive *keepalive, monotime_t now);
enum keepalive_step keepalive_step(const struct keepalive *keepalive,
    monotime_t now);
monotime_t keepalive_deadline(const struct keepalive *keepalive);

/* The machine slept: the peer may be gone.  Asks as soon as it is allowed. */
void keepalive_suspect(struct keepalive *keepalive, monotime_t now);

/* The interval after the peer complained of the one that was used. */
int64_t keepalive_slower(int64_t interval_ms);

#endif
