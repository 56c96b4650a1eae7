/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet's reply from the cache, as queue threads give it. */
#ifndef NFDNS_NFQ_WORKER_CACHED_REPLY_H
#define NFDNS_NFQ_WORKER_CACHED_REPLY_H

#include <stdint.h>

#include "nfq/cache/cache.h"
#include "nfq/packet/intercept.h"

/*
 * Called after intercept_answer(), for a packet with settings.  If the question
 * is of a forward domain and its answer is kept, decision, answer and reply become
 * those; else nothing changes.  If a rule denies a name of the answer, they become what
 * that rule says.  Returns the domain's place in the settings, or -1 if
 * nothing changed; *absent: since the cache has nothing of it.
 */
int cached_reply(struct interception *interception,
    const struct answer_source *source, struct cache *cache,
    uint8_t reply[static INTERCEPT_REPLY_MAX], bool *absent);

#endif
