/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/worker_process.h"

#include <string.h>

#define QUICK_MS	5000	/* if it ends sooner, the next one probably will */
#define AWAY_MS		500	/* longest time between looks on a busy machine */

void
life_begin(struct worker_life *life, monotime_t now)
{
	life->ready = false;
	life->started = life->looked = now;
	life->starting = life->pause = MONOTIME_NEVER;
	life->watched_ms = 1;
	memset(life->slots, 0, sizeof(life->slots));
}

void
life_ready(struct worker_life *life)
{
	life->ready = true;
}

bool
life_start_failed(struct worker_life *life, monotime_t now)
{
	if (!monotime_is_set(life->starting))
		life->starting = now;
	return monotime_ms_since(now, life->starting) >= LIFE_START_MS;
}

bool
life_look(struct worker_life *life, monotime_t now)
{
	const int64_t gap = monotime_ms_since(now, life->looked);

	life->looked = now;
	life->watched_ms += gap < LIFE_VOUCH_MS ? gap : LIFE_VOUCH_MS;
	return gap < AWAY_MS;
}

enum life_sign
life_check(struct worker_life *life, unsigned int slot,
    const struct life_signs *signs, bool looking, int limit_ms)
{
	struct life_slot *s = &life->slots[slot];
	int64_t still;

	if (s->since == 0 || !looking || !life->ready ||
	    !signs->has_work || s->batches != signs->batches) {
		*s = (struct life_slot){ .batches = signs->batches,
			.since = life->watched_ms, .cpu_ms = signs->cpu_ms };
		return LIFE_MOVES;
	}
	still = life->watched_ms - s->since;
	if (still < limit_ms)
		return LIFE_MOVES;
	if (signs->stopped)
		return LIFE_STOPPED;
	if (signs->cpu_ms - s->cpu_ms >= LIFE_HANG_CPU_MS)
		return LIFE_LOOPS;
	return still >= LIFE_BLOCKED_MS ? LIFE_BLOCKED : LIFE_MOVES;
}

bool
life_is_late(const struct worker_life *life, monotime_t now)
{
	return !life->ready &&
	    monotime_ms_since(now, life->started) >= LIFE_READY_MS;
}

/* Notes a crash; whether they are too many. */
static bool
is_too_often(struct worker_life *life, monotime_t now)
{
	monotime_t oldest;

	life->crashes[life->crash] = now;
	life->crash = (life->crash + 1) % LIFE_CRASHES;
	oldest = life->crashes[life->crash];
	return monotime_is_set(oldest) &&
	    monotime_ms_since(now, oldest) < LIFE_CRASHES_MS;
}

enum life_next
life_end(struct worker_life *life, enum status_death cause, bool exited,
    monotime_t now)
{
	const bool quick = monotime_ms_since(now, life->started) < QUICK_MS;

	if (!life->ready || (exited && quick))
		life->failures++;
	else
		life->failures = 0;
	if (life->failures >= LIFE_FAILURES)
		return LIFE_OVER;
	if ((cause != STATUS_DEATH_CRASH && cause != STATUS_DEATH_HANG) ||
	    !is_too_often(life, now))
		return LIFE_ANOTHER;
	life->pause = monotime_add_ms(now, LIFE_PAUSE_MS);
	return LIFE_LATER;
}

bool
life_may_start(const struct worker_life *life, monotime_t now)
{
	return !monotime_is_set(life->pause) ||
	    monotime_is_past(now, life->pause);
}
