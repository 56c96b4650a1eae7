/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that a queue thread asks for domains with a cache (express.h): which it
 * may ask, and what the cache gets of their answers.
 */
#ifndef NFDNS_NFQ_FORWARD_EXPRESS_KEEP_H
#define NFDNS_NFQ_FORWARD_EXPRESS_KEEP_H

#include "nfq/forward/cache.h"
#include "nfq/forward/express.h"
#include "nfq/forward/fresh_answers.h"

enum express_cached {
	EXPRESS_UNCACHED,		/* the cache has nothing to do with it */
	EXPRESS_TO_KEEP,		/* nothing is there, and its answer is kept */
	EXPRESS_THERE,			/* the forwarding thread has to look at it */
};

/*
 * What a question is to the cache.  A stale answer, one that is soon to expire and
 * a failure that is kept are the forwarding thread's.  "found" is overwritten.
 */
enum express_cached express_cached(const struct express_ask *ask,
    struct fresh_answers *fresh, monotime_t now,
    uint8_t found[static CACHE_MESSAGE_MAX]);

/* Whether its answer is kept, if it is one that may be. */
bool express_is_kept(const struct express_ask *ask);

struct express_keeper {
	const struct forward_settings *settings;	/* that it was asked by, */
	uint64_t generation;		/* their number, */
	uint32_t domain;		/* and the question's place there */
	monotime_t asked, received;	/* CLOCK_BOOTTIME */
	uint32_t wall_s;		/* since 1970 */
	struct fresh_answers *fresh;
};

/*
 * What answers.c's keep_it() does with a reply that answers the question: bounds the
 * TTLs that clients get of it, and has it kept if it may be.
 */
void express_keep_reply(const struct express_keeper *keeper,
    const struct question *question, struct express_reply *reply);

#endif
