/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that the queue thread asks by itself: nfq/forward/express.h. */
#include "nfq/worker/queue_thread_state.h"

#include "nfq/cache/cache.h"

/*
 * An upstream is asked for so many questions before the queue is looked at again.
 * Each takes the thread ten times as long as a mesh name, which may wait there.
 */
#define AT_A_TIME	16

bool
queue_express_hold(struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	const struct express_ask ask = {
		.packet = p, .interception = i, .settings = q->forward,
		.generation = q->thread.generation->number,
		.caches = q->thread.generation->cache != NULL,
		.cache = q->cache,
		.received_ns = q->thread.received_ns, .now = q->thread.now,
	};
	const struct forward_upstream *to;
	enum express_begun begun;

	if (q->express == NULL)
		return false;
	to = express_upstream(q->express, &ask);
	if (to == NULL)
		return false;
	begun = express_begin(q->express, to, &ask);
	if (begun == EXPRESS_JOINED)
		answering_count_up(&q->thread.slot->forward[FORWARD_JOINED]);
	return begun != EXPRESS_NOT;
}

/* A rule denies a name of the answer: the client gets what the rule says. */
static void
deny(struct queue_thread *q, struct held_packet *h)
{
	const struct interception *i = q->ahead;

	if (i->reply_length > 0)
		queue_reply(q->queue.reader, h->id, (h->mark &
		    ~q->mark_mask) | q->mark_answered, q->reply,
		    i->reply_length);
	else
		queue_drop(q->queue.reader, h->id);
	waiting_end(&q->thread.threads->waiting, h->uid);
	answering_count_rcode(&q->thread, i->decision.rcode);
	answering_count_up(&q->thread.slot->forward[FORWARD_ANSWERED]);
	answering_count_up(&q->thread.slot->forward[FORWARD_EXPRESS]);
	held_packet_record(h, &q->thread, q->queue_number, i->answer,
	    i->answer_length);
}

static void
answer(struct queue_thread *q, struct express_question *e,
    const struct express_reply *reply)
{
	const uint16_t rcode = reply->message.rcode;
	_Atomic uint64_t *counters = q->thread.slot->forward;
	struct held_packet *h = &e->held;
	struct express_answer answer;
	const size_t length = express_answer(q->forward, e, reply,
	    q->express_reply, &answer);

	if (held_packet_deny(h, &q->thread, q->ahead, &(struct policy_answer){
	    answer.octets, answer.length, 0 }, q->reply)) {
		deny(q, h);
		return;
	}
	queue_reply(q->queue.reader, h->id,
	    (h->mark & ~q->mark_mask) | q->mark_answered, q->express_reply,
	    length);
	waiting_end(&q->thread.threads->waiting, h->uid);
	h->decision.rcode = (uint8_t)rcode;
	h->decision.verdict = decide_verdict_of(answer.octets, answer.length);
	answering_count_rcode(&q->thread, rcode);
	answering_count_spent(&q->thread, q->thread.now.ns - e->since.ns, 1);
	answering_count_up(&counters[FORWARD_ANSWERED]);
	answering_count_up(&counters[FORWARD_EXPRESS]);
	held_packet_record(h, &q->thread, q->queue_number, answer.octets,
	    answer.length);
}

/* The forwarding thread gets its packets. */
static void
end(struct queue_thread *q, struct express_attempt *a)
{
	const struct express_question *e;

	STAILQ_FOREACH(e, &a->questions, entry) {
		const struct held_packet *h = &e->held;
		const struct queue_packet packet = {
			.id = h->id, .mark = h->mark, .device = h->device,
			.uid = h->uid, .gid = h->gid, .octets = e->octets,
			.length = e->length, .whole_length = e->length,
		};

		queue_hand_over_packet(q, &packet);
	}
	express_end(q->express, a);
}

/* The forwarding thread goes on with it. */
static void
give(struct queue_thread *q, struct express_attempt *a,
    const struct express_reply *reply)
{
	if (a->state == EXPRESS_SENT)
		express_give(q->express, a, reply);
	end(q, a);
}

void
queue_express_send(struct queue_thread *q)
{
	_Atomic uint64_t *counters = q->thread.slot->forward;
	struct express_attempt *a;

	if (q->express == NULL || express_next(q->express) == NULL)
		return;
	answering_begin(&q->thread, monotime_now());
	queue_look_at_forwarding(q);
	for (unsigned int n = 0; n < AT_A_TIME &&
	    (a = express_next(q->express)) != NULL; n++) {
		if (express_send(q->express, a, q->forward,
		    q->thread.generation->number) == 0)
			answering_count_up(&counters[FORWARD_ATTEMPTS]);
		else
			end(q, a);
	}
	thread_queue_send(&q->queue);
	answering_end(&q->thread);
}

static void
take_reply(struct queue_thread *q, struct express_attempt *a)
{
	struct express_question *e;
	struct express_reply reply;

	if (!express_receive(q->express, a, q->forward, &reply))
		return;
	if (!reply.is_answer) {
		give(q, a, &reply);
		return;
	}
	express_keep(q->express, a, q->cache, q->forward,
	    q->thread.generation->number, &reply);
	STAILQ_FOREACH(e, &a->questions, entry) {
		answer(q, e, &reply);
		answering_count_up(
		    &q->thread.slot->domain_answered[a->domain]);
		if (a->kept && q->cache != NULL)
			cache_count(q->cache, NULL);
	}
	express_answered(q->express, a);
}

bool
queue_express_wait(struct queue_thread *q)
{
	struct express_attempt *ready[EXPRESS_BATCH], *late;
	bool queued;
	const size_t count = express_wait(q->express, &queued, ready);

	if (count == 0 && express_late(q->express) == NULL)
		return queued;
	answering_begin(&q->thread, monotime_now());
	queue_look_at_forwarding(q);
	for (size_t n = 0; n < count; n++)
		take_reply(q, ready[n]);
	while ((late = express_late(q->express)) != NULL)
		give(q, late, NULL);
	thread_queue_send(&q->queue);
	answering_end(&q->thread);
	return queued;
}

void
queue_express_end(struct queue_thread *q)
{
	struct express_attempt *a;

	if (q->express == NULL)
		return;
	answering_begin(&q->thread, monotime_now());
	while ((a = express_first(q->express)) != NULL)
		give(q, a, NULL);
	thread_queue_send(&q->queue);
	answering_end(&q->thread);
	express_free(q->express);
	q->express = NULL;
}
