/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/snapshot.h"

#include <stddef.h>
#include <time.h>

#define LOOK_AGAIN_NS	200000

const struct snapshot *
snapshot_get(snapshot_place *in_use, snapshot_place *current)
{
	const struct snapshot *s;

	do {
		s = atomic_load(current);
		atomic_store(in_use, s);
		/* Swapped in between: who swaps may not have seen ours. */
	} while (s != atomic_load(current));
	return s;
}

void
snapshot_put(snapshot_place *in_use)
{
	atomic_store_explicit(in_use, NULL, memory_order_release);
}

void
snapshot_pause(void)
{
	const struct timespec pause = { 0, LOOK_AGAIN_NS };

	(void)nanosleep(&pause, NULL);
}

void
snapshot_wait(snapshot_place *in_use, const struct snapshot *old)
{
	while (atomic_load(in_use) == old)
		snapshot_pause();
}
