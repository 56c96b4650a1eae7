/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/handover/suspects.h"

static bool
is_serving(const struct suspect *s, int64_t now_ms)
{
	return s->used && now_ms < s->until_ms;
}

/*
 * Whether entry a should be reused rather than b: a free one first, then one
 * whose term does not run, then the one whose last offence is longest ago.
 */
static bool
is_better_place(const struct suspect *a, const struct suspect *b, int64_t now_ms)
{
	if (a->used != b->used)
		return !a->used;
	if (is_serving(a, now_ms) != is_serving(b, now_ms))
		return !is_serving(a, now_ms);
	return a->last_ms < b->last_ms;
}

static struct suspect *
find(struct suspects *suspects, uid_t uid, int64_t now_ms)
{
	struct suspect *best = &suspects->list[0];

	for (size_t i = 0; i < SUSPECTS; i++) {
		struct suspect *s = &suspects->list[i];

		if (s->used && s->uid == uid)
			return s;
		if (is_better_place(s, best, now_ms))
			best = s;
	}
	*best = (struct suspect){ .used = true, .uid = uid,
		.last_ms = now_ms };
	return best;
}

bool
suspects_offend(struct suspects *suspects, uid_t uid, unsigned int points,
    int64_t now_ms, int64_t *until_ms)
{
	struct suspect *s = find(suspects, uid, now_ms);

	if (now_ms - s->last_ms >= SUSPECTS_MEMORY_MS)
		s->terms = 0;
	if (now_ms - s->last_ms >= SUSPECTS_WINDOW_MS)
		s->points = 0;
	s->last_ms = now_ms;
	s->points += points;
	/* One that is serving has sent it before the term began. */
	if (is_serving(s, now_ms) ||
	    (s->terms == 0 && s->points < SUSPECTS_LIMIT))
		return false;
	s->until_ms = now_ms + ((int64_t)SUSPECTS_TERM_MS << s->terms);
	if (s->terms < SUSPECTS_DOUBLINGS)
		s->terms++;
	*until_ms = s->until_ms;
	return true;
}

size_t
suspects_count(const struct suspects *suspects, int64_t now_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < SUSPECTS; i++)
		count += is_serving(&suspects->list[i], now_ms);
	return count;
}

bool
suspects_has(const struct suspects *suspects, uid_t uid, int64_t now_ms)
{
	for (size_t i = 0; i < SUSPECTS; i++)
		if (suspects->list[i].uid == uid &&
		    is_serving(&suspects->list[i], now_ms))
			return true;
	return false;
}
