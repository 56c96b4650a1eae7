/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a table is made of what has changed, and what follows from the host's
 * verdict.  Pure: time is a parameter.
 */
#ifndef NFDNS_RESOLVER_FEED_KUBE_OFFER_H
#define NFDNS_RESOLVER_FEED_KUBE_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/clock.h"
#include "resolver/feed/backoff.h"
#include "resolver/feed/feed.h"

#define KUBE_OFFER_QUIET_MS	100	/* without another change */
#define KUBE_OFFER_MOST_MS	10000	/* from the first change */

/* Start from zeros. */
struct kube_offer {
	monotime_t first;		/* change that was not offered; or never */
	monotime_t last;
	monotime_t again;		/* the host could not keep it: not before */
	struct backoff backoff;
};

/* Something has changed. */
void kube_offer_change(struct kube_offer *offer, monotime_t now);

/* Whether to make a table now, or when; MONOTIME_NEVER: nothing has changed. */
bool kube_offer_is_due(const struct kube_offer *offer, monotime_t now);
monotime_t kube_offer_deadline(const struct kube_offer *offer);

/* A table was offered. */
void kube_offer_verdict(struct kube_offer *offer, monotime_t now,
    uint64_t random, enum feed_verdict verdict);

#endif
