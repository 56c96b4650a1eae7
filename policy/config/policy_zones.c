/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/policy_zones.h"

#define STEP	INT64_C(604800)	/* seconds: no offset lasts for less */
#define STEPS	(10 * 366 / 7)

static int64_t
offset_at(int64_t when)
{
	const time_t t = (time_t)when;
	struct tm local;

	return localtime_r(&t, &local) != NULL ? local.tm_gmtoff : 0;
}

/* The first second after "low" with another offset; "high" has one. */
static int64_t
change_between(int64_t low, int64_t high)
{
	const int64_t before = offset_at(low);

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (offset_at(middle) == before)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void
add(struct policy *policy, int64_t from, int64_t offset)
{
	if (policy->zone_count < POLICY_ZONES_MAX)
		policy->zones[policy->zone_count++] =
		    (struct policy_zone){ from, offset };
}

/* 1 January of now's year, UTC. */
static int64_t
year_of(time_t now)
{
	struct tm utc;

	if (gmtime_r(&now, &utc) == NULL)
		return 0;
	return (int64_t)now - (int64_t)utc.tm_yday * 86400 -
	    (int64_t)now % 86400;
}

void
policy_zones_fill(struct policy *policy, time_t now)
{
	int64_t at = year_of(now);

	tzset();
	policy->zone_count = 0;
	add(policy, INT64_MIN, offset_at(at));
	for (int i = 0; i < STEPS; i++, at += STEP) {
		if (offset_at(at) == offset_at(at + STEP))
			continue;
		add(policy, change_between(at, at + STEP),
		    offset_at(at + STEP));
	}
}
