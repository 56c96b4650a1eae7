/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table that answers are given from, and how it is swapped under the
 * threads that read it, without a lock: a thread publishes the snapshot that it
 * is about to use ("in_use"), then looks whether that is still the current one,
 * and only then uses it.  Whoever swaps stores the new current one first and
 * waits until nobody has the old one published.  A thread that waits for work
 * has none published, so an idle thread delays nothing.
 */
#ifndef NFDNS_NFQ_THREAD_SNAPSHOT_H
#define NFDNS_NFQ_THREAD_SNAPSHOT_H

#include <stdatomic.h>
#include <stdint.h>

#include "resolver/image/table.h"

/* A table, and which one it is. */
struct snapshot {
	struct table *table;
	uint64_t generation;
};

typedef _Atomic(const struct snapshot *) snapshot_place;

/* Publishes the current snapshot in in_use, and returns it. */
const struct snapshot *snapshot_get(snapshot_place *in_use,
    snapshot_place *current);

/* What was got is not used any more. */
void snapshot_put(snapshot_place *in_use);

/* Waits until in_use is not "old". */
void snapshot_wait(snapshot_place *in_use, const struct snapshot *old);

/* A pause for who looks again and again, such as snapshot_wait(). */
void snapshot_pause(void);

#endif
