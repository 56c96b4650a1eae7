/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of clients to remove answers from the cache.  The worker has one at a time; one
 * that a dying worker had is given to the next.
 */
#include "nfq/supervisor/parts.h"

#include <errno.h>
#include <string.h>


static void
give_next(struct supervisor *s)
{
	const struct flush *first = &s->flushes.list[0];
	struct control_message order = { .kind = CONTROL_FLUSH };

	/* A worker that starts gets it when it is ready: flush_worker_ready(). */
	if (s->flushes.count == 0 || s->flushes.given ||
	    !s->worker.life.ready)
		return;
	order.generation = first->number;
	order.name_length = (uint32_t)flush_write(first, order.name);
	/* A worker that does not listen is dying: the next one gets it. */
	s->flushes.given =
	    control_send(s->worker.control, &order, NULL, 0) == 0;
}

int
flush_ordered(struct supervisor *s, const struct flush *flush,
    uint32_t *number)
{
	struct flush *next = &s->flushes.list[s->flushes.count];

	if (s->flushes.count == FLUSHES_MAX)
		return -EBUSY;
	*next = *flush;
	next->number = *number = ++s->flushes.number;
	s->flushes.count++;
	give_next(s);
	return 0;
}

bool
flush_answered(struct supervisor *s, const struct control_message *answer)
{
	struct flushes *f = &s->flushes;

	if (!f->given || answer->generation != f->list[0].number)
		return false;
	f->given = false;
	f->count--;
	memmove(f->list, f->list + 1, f->count * sizeof(f->list[0]));
	give_next(s);
	return true;
}

void
flush_worker_ready(struct supervisor *s)
{
	s->flushes.given = false;
	give_next(s);
}
