/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A generation as the answering threads use it: the table and the settings that
 * answers are made from.  A reload replaces it while the threads run, without a
 * lock.  A thread publishes the generation that it is about to use ("in_use"),
 * then checks that it is still the current one, and only then uses it.  The
 * main thread first stores the new current generation, then waits until no
 * thread publishes the old one.  A thread that waits for work publishes none,
 * so an idle thread delays no reload.
 */
#ifndef NFDNS_NFQ_THREAD_GENERATION_H
#define NFDNS_NFQ_THREAD_GENERATION_H

#include <stdatomic.h>
#include <stdint.h>

#include "policy/config/settings.h"
#include "policy/match/policy_gather.h"
#include "resolver/answer/settings.h"
#include "resolver/image/table.h"

struct cache;

struct generation {
	uint64_t number;		/* 0: no table was ever loaded */
	struct table *table;
	struct settings settings;
	struct cache *cache;		/* of forwarding; borrowed; NULL: none */
	struct rules *rules;		/* NULL: there are none */
	struct policy_source policy;	/* these; rates are borrowed, counters
					 * are owned and point elsewhere */
};

/*
 * Maps and checks a table image and reads the settings, both from sealed memory
 * files, which stay the caller's; settings -1: they are those of "before", which may
 * be NULL otherwise.  Returns NULL if either is invalid; *why is a
 * static text that says what is wrong.
 */
struct generation *generation_open(uint64_t number, int image, int settings,
    const struct generation *before, const char **why) __attribute__((warn_unused_result));

/* What answers of this generation are made from; borrows it. */
static inline struct answer_source
generation_source(const struct generation *generation)
{
	return answer_source(generation->table, &generation->settings.answers);
}

/* What questions are asked of the policy with; NULL: there are no rules. */
static inline const struct policy_source *
generation_policy(const struct generation *generation)
{
	return generation->rules != NULL ? &generation->policy : NULL;
}

/* No thread may use it any more.  NULL is allowed. */
void generation_close(struct generation *generation);

typedef _Atomic(const struct generation *) generation_place;

/* Publishes the current generation in in_use, and returns it. */
const struct generation *generation_get(generation_place *in_use,
    generation_place *current);

/* The thread no longer uses what generation_get() returned. */
void generation_put(generation_place *in_use);

/* Waits until the thread that publishes in in_use does not use "old". */
void generation_wait(generation_place *in_use, const struct generation *old);

/* Sleeps for a moment, in a loop that waits for another thread. */
void generation_pause(void);

#endif
