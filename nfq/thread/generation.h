/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A generation as the answering threads use it: the table and the settings
 * that answers are given from.  A reload replaces it under the threads without
 * a lock.  A thread publishes the generation that it is about to use
 * ("in_use"), then checks that it is still the current one, and only then uses
 * it.  The main thread stores the new current generation first, then waits
 * until no thread has the old one published.  A thread that waits for work has
 * none published, so an idle thread delays no reload.
 */
#ifndef NFDNS_NFQ_THREAD_GENERATION_H
#define NFDNS_NFQ_THREAD_GENERATION_H

#include <stdatomic.h>
#include <stdint.h>

#include "policy/config/settings.h"
#include "resolver/answer/settings.h"
#include "resolver/image/table.h"

struct generation {
	uint64_t number;		/* 0: no table was ever loaded */
	struct table *table;
	struct settings settings;
	struct answer_source answers;	/* views of the two above */
};

/*
 * Maps and checks a table image and reads the settings, both from sealed memory
 * files that stay open.  Returns NULL, with *why a static text, if either is
 * not good; nothing has changed then.
 */
struct generation *generation_open(uint64_t number, int image, int settings,
    const char **why) __attribute__((warn_unused_result));
/* No thread uses it any more.  NULL is allowed. */
void generation_close(struct generation *generation);

typedef _Atomic(const struct generation *) generation_place;

/* Publishes the current generation in in_use, and returns it. */
const struct generation *generation_get(generation_place *in_use,
    generation_place *current);

/* What generation_get() returned is not used any more. */
void generation_put(generation_place *in_use);

/* Waits until in_use is not "old". */
void generation_wait(generation_place *in_use, const struct generation *old);

/* A short pause for a loop that waits for another thread. */
void generation_pause(void);

#endif
