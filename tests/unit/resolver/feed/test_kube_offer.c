/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/kube_offer.h"

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

static void
quiet_first(void)
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

static void
ten_seconds_at_most(void)
{
	begin();
	for (int64_t ms = 0; ms < 10000; ms += 50) {
		kube_offer_change(&offer, at(ms));
		CHECK(!kube_offer_is_due(&offer, at(ms)));
	}
	kube_offer_change(&offer, at(10000));
	CHECK(kube_offer_is_due(&offer, at(10000)));
}

static void
not_kept(void)
{
	begin();
	kube_offer_change(&offer, at(0));
	kube_offer_verdict(&offer, at(100), 400, FEED_FAILED);
	CHECK(!kube_offer_is_due(&offer, at(499)));
	CHECK(kube_offer_is_due(&offer, at(500)));
	kube_offer_verdict(&offer, at(500), 0, FEED_APPLIED);
	CHECK(!kube_offer_is_due(&offer, at(100000)));
}

static void
refused(void)
{
	begin();
	kube_offer_change(&offer, at(0));
	kube_offer_verdict(&offer, at(100), 0, FEED_REFUSED);
	CHECK(!kube_offer_is_due(&offer, at(100000)));
}

int
main(void)
{
	TEST(quiet_first);
	TEST(ten_seconds_at_most);
	TEST(not_kept);
	TEST(refused);
	return test_summary();
}
