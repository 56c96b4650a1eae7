/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forwarding's settings of a batch; packets that its thread gets. */
#include "nfq/worker/queue_thread_state.h"

#include "nfq/cache/cache.h"

/*
 * After a reload the cache may hold answers of upstreams that are no longer asked,
 * until the forwarding thread has removed them.
 */
void
queue_look_at_forwarding(struct queue_thread *q)
{
	const struct generation *generation = q->thread.generation;

	q->forward = &generation->settings.forward;
	q->cache = generation->cache != NULL &&
	    cache_generation(generation->cache) == generation->number ?
	    generation->cache : NULL;
}

void
queue_hand_over_packet(struct queue_thread *q, const struct queue_packet *p)
{
	queue_hand_over(q->queue.reader, p->id, q->forward_queue);
}
