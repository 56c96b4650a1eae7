/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers from the cache alone, as queue threads give them: without the engine,
 * and without a lock; and what the cache gets of replies.
 */
#ifndef NFDNS_NFQ_ASK_CACHED_ANSWER_H
#define NFDNS_NFQ_ASK_CACHED_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/cache/cache.h"
#include "nfq/ask/engine_state.h"
#include "nfq/ask/message.h"
#include "policy/config/forward_settings.h"

/* A question as a queue thread has it.  Borrows all. */
struct cached_ask {
	const uint8_t *message;		/* as sent */
	size_t length;
	const struct question *question;	/* of that message */
	uint32_t domain;		/* its place in the settings */
	bool absent;			/* set: there is nothing at all, not even stale */
};

/*
 * Writes the answer if a fresh one is there, and returns its length.  0: the
 * question is the engine's, since nothing is there, or it is stale, or it is time
 * to ask for it anew.  "size" is at least 512.
 */
size_t cached_answer(struct cache *cache,
    const struct forward_settings *settings, monotime_t now,
    struct cached_ask *ask, uint8_t *out, size_t size);

/* Whether a fresh entry is to be asked for anew, before it expires. */
bool cached_prefetch_due(const struct forward_cache_settings *settings,
    monotime_t now, const struct cache_entry *entry);

/* What the answer to a question is kept under; its name is the question's. */
struct cache_key cached_key(const struct question *question);

/* A reply that answers a question.  Borrows all. */
struct fresh_reply {
	const struct question *question;
	const struct message *message;
	monotime_t asked, received;	/* CLOCK_BOOTTIME */
	uint64_t generation;		/* of the settings that it was asked by */
};

/*
 * Bounds the TTLs that clients get of it as the cache's are, and keeps it if it may
 * be kept.
 */
void cached_keep(struct cache *cache, const struct keep_limits *limits,
    const struct fresh_reply *reply, struct message_ttl *ttl);

/* Whether an answer depends on nothing but the key of the cache. */
bool cached_is_common(const struct question *question,
    const struct message_options *options);

#endif
