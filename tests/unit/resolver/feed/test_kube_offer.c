/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_mirror.h"

#include <string.h>

#include "tests/check.h"

static struct kube_offer offer;

static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(1000000 + ms);
}

static void
begin(void)
{
	memset(&offer, 0, sizeof(offer));
}

TEST(quiet_first)
{
	begin();
	CHECK(!kube_offer_is_due(&offer, at(0)));
	CHECK(!monotime_is_set(kube_offer_deadline(&offer)));
	kube_offer_change(&offer, at(0));
	CHECK(!kube_offer_is_due(&offer, at(99)));
	kube_offer_change(&offer, at(90));
	CHECK(!kube_offer_is_due(&offer, at(189)));
	CHECK(kube_offer_is_due(&offer, at(190)));
	kube_offer_verdict(&offer, at(190), 0, FEED_APPLIED);
	CHECK(!kube_offer_is_due(&offer, at(100000)));
}

TEST(ten_seconds_at_most)
{
	begin();
	for (int64_t ms = 0; ms < 10000; ms += 50) {
		kube_offer_change(&offer, at(ms));
		CHECK(!kube_offer_is_due(&offer, at(ms)));
	}
	kube_offer_change(&offer, at(10000));
	CHECK(kube_offer_is_due(&offer, at(10000)));
}

TEST(not_kept)
{
	begin();
	kube_offer_change(&offer, at(0));
	kube_offer_verdict(&offer, at(100), 400, FEED_FAILED);
	CHECK(!kube_offer_is_due(&offer, at(499)));
	CHECK(kube_offer_is_due(&offer, at(500)));
	kube_offer_verdict(&offer, at(500), 0, FEED_APPLIED);
	CHECK(!kube_offer_is_due(&offer, at(100000)));
}

