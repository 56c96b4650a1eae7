/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A feed's host that has nothing to do meanwhile. */
#ifndef NFDNS_TESTS_FEED_HOST_H
#define NFDNS_TESTS_FEED_HOST_H

#include "resolver/feed/feed.h"

static const char *const feed_levels[] __attribute__((unused)) = { "error", "notice", "debug" };

static inline void
feed_tick(void *arg)
{
	(void)arg;
}

#endif
