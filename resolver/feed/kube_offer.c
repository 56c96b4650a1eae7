/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

void
kube_offer_change(struct kube_offer *offer, monotime_t now)
{
	if (!monotime_is_set(offer->first))
		offer->first = now;
	offer->last = now;
}

monotime_t
kube_offer_deadline(const struct kube_offer *offer)
{
	monotime_t quiet = monotime_add_ms(offer->last, KUBE_OFFER_QUIET_MS);
	monotime_t most = monotime_add_ms(offer->first, KUBE_OFFER_MOST_MS);
	monotime_t due = monotime_is_past(quiet, most) ? most : quiet;

	if (!monotime_is_set(offer->first))
		return MONOTIME_NEVER;
	return monotime_is_past(offer->again, due) ? offer->again : due;
}

bool
kube_offer_is_due(const struct kube_offer *offer, monotime_t now)
{
	return monotime_is_set(offer->first) &&
	    monotime_is_past(now, kube_offer_deadline(offer));
}

void
kube_offer_verdict(struct kube_offer *offer, monotime_t now, uint64_t random,
    enum feed_verdict verdict)
{
	if (verdict == FEED_FAILED) {
		offer->again = monotime_add_ms(now,
		    backoff_next_ms(&offer->backoff, random));
		return;
	}
	backoff_reset(&offer->backoff);
	offer->first = offer->last = offer->again = MONOTIME_NEVER;
}
