/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that queue threads have got for domains with a cache, on their way to the
 * forwarding thread: it alone writes the cache.
 *
 * A question whose answer is here is the forwarding thread's, which takes all that is
 * here into the cache before it looks at questions.  So no upstream is asked again for
 * what a client has had an answer to, however soon that is asked again.
 */
#ifndef NFDNS_NFQ_FORWARD_FRESH_ANSWERS_H
#define NFDNS_NFQ_FORWARD_FRESH_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfq/forward/cache.h"
#include "resolver/clock.h"
#include "resolver/dns/name.h"

/* With so many the forwarding thread is behind: it gets the questions, too. */
#define FRESH_MANY		64

struct fresh_answer {
	STAILQ_ENTRY(fresh_answer) link;
	uint64_t generation;		/* of the settings that it was asked by */
	monotime_t asked, received;	/* CLOCK_BOOTTIME */
	struct cache_key key;		/* its name is: */
	struct dns_name name;
	enum cache_kind kind;
	uint32_t ttl_s;
	size_t length;
	uint8_t octets[];		/* as cache_store() takes it */
};

/* Any thread may use it. */
struct fresh_answers;

/* NULL without memory. */
struct fresh_answers *fresh_answers_new(void);

/* Frees those that nobody has taken, too.  NULL is allowed. */
void fresh_answers_free(struct fresh_answers *fresh);

/* With copies of the key and the octets; NULL without memory. */
struct fresh_answer *fresh_answer_new(const struct cache_key *key,
    const uint8_t *octets, size_t length);

/* A queue thread, before it gives the answer to anybody.  Takes it over. */
void fresh_answers_put(struct fresh_answers *fresh,
    struct fresh_answer *answer);

/*
 * A queue thread, before it looks into the cache: whether the forwarding thread has
 * to answer, since the answer is here, or many are.
 */
bool fresh_answers_have(struct fresh_answers *fresh,
    const struct cache_key *key);

/* The forwarding thread: the oldest, which stays here until it is in the cache. */
const struct fresh_answer *fresh_answers_first(struct fresh_answers *fresh);
void fresh_answers_remove_first(struct fresh_answers *fresh);

#endif
