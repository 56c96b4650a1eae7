/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that the forwarding thread gets, and those that the kernel dropped. */
#include "nfq/worker/queue_thread_state.h"

#include <string.h>

#include "nfq/cache/cache.h"
#include "nfq/held/rescue.h"

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
	struct handed *kept = &q->handed[q->handed_next++ % HANDED];

	kept->packet = *p;
	kept->packet.octets = kept->octets;
	if (p->length <= HANDED_OCTETS)
		memcpy(kept->octets, p->octets, p->length);
	else
		kept->packet.length = 0;
	queue_hand_over(q->queue.reader, p->id, q->forward_queue);
}

/*
 * Packets that the kernel had dropped when their verdicts came (forward/rescue.h):
 * answers leave by themselves, and what was handed over is asked by itself.  What was
 * to pass is lost, and its client asks again.
 */
static void
ask_anyway(struct queue_thread *q, uint32_t id)
{
	for (size_t n = 0; n < HANDED; n++) {
		struct handed *kept = &q->handed[n];

		if (kept->packet.length == 0 || kept->packet.id != id)
			continue;
		(void)errands_lose(&q->thread.threads->errands, &kept->packet);
		kept->packet.length = 0;
	}
}

void
queue_rescue(struct queue_thread *q)
{
	_Atomic uint64_t *counters = q->thread.slot->forward;
	const uint8_t *reply;
	size_t length;
	uint32_t id;

	while (queue_next_gone(q->queue.reader, &id)) {
		answering_count_up(&counters[FORWARD_GONE]);
		reply = queue_lost_reply(q->queue.reader, id, &length);
		if (reply != NULL &&
		    rescue_send(q->raw, reply, length, 0) == 0)
			answering_count_up(&counters[FORWARD_RESCUED]);
		else if (reply == NULL && q->handed != NULL)
			ask_anyway(q, id);
	}
}
