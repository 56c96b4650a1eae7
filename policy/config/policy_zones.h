/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's time zone as numbers, for processes that cannot read it. */
#ifndef NFDNS_POLICY_CONFIG_POLICY_ZONES_H
#define NFDNS_POLICY_CONFIG_POLICY_ZONES_H

#include <time.h>

#include "policy/config/policy.h"

/*
 * The offset from UTC and when it changes, in the ten years from the beginning
 * of now's year on: equal for all moments of a year, so that a table that is
 * compiled again is the same.  Not thread-safe: tzset(3).
 */
void policy_zones_fill(struct policy *policy, time_t now);

#endif
