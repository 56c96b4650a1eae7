/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/worker/queue_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/forward/cached_reply.h"
#include "nfq/forward/rescue.h"
#include "nfq/handover/senders.h"
#include "nfq/packet/intercept.h"
#include "nfq/queue/queue.h"
#include "nfq/thread/thread_queue.h"
#include "nfq/thread/fault.h"

/* Packets that are looked at together: the CPU keeps some dozen loads apart. */
#define AHEAD		16

/* The last packets that were handed over, should the kernel have dropped them. */
#define HANDED		512
#define HANDED_OCTETS	512		/* longer ones are not kept */

struct handed {
	struct queue_packet packet;	/* of octets[]; length 0: none */
	uint8_t octets[HANDED_OCTETS];
};

struct queue_thread {
	struct answering_thread thread;
	struct thread_queue queue;
	struct window_queue *window;	/* the supervisor sees it */
	struct senders *senders;
	const struct suspects *suspects;	/* NULL: there are none */
	const int *raw;			/* forward/rescue.h; -1: none */
	uint32_t mark_mask;
	uint32_t mark_answered;
	uid_t uid;			/* our own */
	uint16_t queue_number;
	uint32_t mark_stream;		/* 0: TCP is not captured */
	bool relay_marks;		/* a relay can carry the client's mark */
	bool forwards;			/* there is a forwarding thread, */
	uint16_t forward_queue;		/* and its queue, */
	struct handed *handed;		/* HANDED of them, if so */
	unsigned int handed_next;
	const struct forward_settings *forward;	/* of this batch, or NULL */
	struct cache *cache;		/* of this batch, or NULL */
	struct interception ahead[AHEAD];
	uint8_t reply[INTERCEPT_REPLY_MAX];
};

static void
record(struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	const size_t octets = i->packet.family == AF_INET ? 4 : 16;
	struct audit_record r = {
		.packet_id = p->id,
		.queue = q->queue_number,
		.uid = p->uid,
		.gid = p->gid,
		.client_port = i->packet.source_port,
		.server_port = i->packet.destination_port,
		.family = i->packet.family,
		.question_length = (uint16_t)(i->packet.payload_length),
		.answer_length = (uint16_t)i->answer_length,
		.question = i->packet.payload,
		.answer = i->answer,
	};

	const struct policy_note note = intercept_note(i);

	if (!audit_wants_any(q->thread.audit))
		return;
	memcpy(r.client, i->packet.source, octets);
	memcpy(r.server, i->packet.destination, octets);
	answering_set_note(&r, &note);
	answering_record(&q->thread, &i->decision, q->thread.received_ns, &r);
}

/*
 * Whether the TCP thread takes the connection.  Marks of others route packets
 * (ip-rule(8), fwmark): a relay that cannot carry such a mark may go elsewhere
 * than the client wants, so the connection goes on by itself.
 */
static bool
is_taken(const struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	return i->form == PACKET_STREAM && q->mark_stream != 0 &&
	    (q->relay_marks || (p->mark & ~q->mark_mask) == 0);
}

static void
count(struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	if (i->canary)
		answering_count_up(&q->thread.slot->canaries);
	else if (is_taken(q, p, i))
		/* Its questions are counted when they come. */
		answering_count_up(&q->thread.slot->streams);
	else {
		answering_count(&q->thread, &i->decision);
		if (i->form == PACKET_OK)
			answering_count_asked(&q->thread, &i->question,
			    i->packet.family, p->uid);
	}
}

/* The connection may be accepted as soon as its first packet goes on. */
static void
mark_stream(struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	const size_t octets = i->packet.family == AF_INET ? 4 : 16;
	struct sender_ends ends;

	memset(&ends, 0, sizeof(ends));
	memcpy(ends.client, i->packet.source, octets);
	memcpy(ends.server, i->packet.destination, octets);
	ends.client_port = i->packet.source_port;
	if (q->senders != NULL)
		senders_put(q->senders, &ends, &(struct sender){
		    .uid = p->uid, .gid = p->gid, .device = p->device,
		    .mark = p->mark & ~q->mark_mask });
	queue_mark(q->queue.reader, p->id,
	    (p->mark & ~q->mark_mask) | q->mark_stream);
}

static void
hand_over(struct queue_thread *q, const struct queue_packet *p)
{
	struct handed *kept = &q->handed[q->handed_next++ % HANDED];

	kept->packet = *p;
	kept->packet.octets = kept->octets;
	if (p->length <= HANDED_OCTETS)
		memcpy(kept->octets, p->octets, p->length);
	else
		kept->packet.length = 0;
	waiting_add(&q->thread.threads->waiting, p->uid);
	queue_hand_over(q->queue.reader, p->id, q->forward_queue);
}

/*
 * An answer of ours whose question the kernel has dropped: rescue.h.  Packets of
 * our user are queued only with the canary's mark, which takes CAP_NET_ADMIN.
 */
static bool
is_carrier(const struct queue_packet *p, const struct interception *i,
    struct rescue_packet *carried)
{
	return i->form == PACKET_OK && p->length == p->whole_length &&
	    rescue_carried(carried, i->packet.family, i->packet.payload,
	    i->packet.payload_length);
}

static void
answer_packet(struct queue_thread *q, const struct queue_packet *p,
    struct interception *i)
{
	const struct answer_source source =
	    generation_source(q->thread.generation);
	struct queue_reader *reader = q->queue.reader;
	struct rescue_packet carried;
	int domain = -1;

	if (p->uid == q->uid && is_carrier(p, i, &carried)) {
		queue_reply(reader, p->id, q->mark_answered, carried.octets,
		    carried.length);
		answering_count_up(&q->thread.slot->canaries);
		return;
	}
	intercept_answer(i, &source, q->thread.rotation++, q->reply);
	if (q->cache != NULL)
		domain = cached_reply(i, q->cache, q->reply);
	if (!i->canary && i->form == PACKET_OK &&
	    answering_must_refuse(&q->thread, &i->decision))
		intercept_refuse(i, &source, q->reply);
	if (domain >= 0)
		answering_count_up(&q->thread.slot->domain_hits[domain]);
	if (i->reply_length > 0)
		queue_reply(reader, p->id,
		    (p->mark & ~q->mark_mask) | q->mark_answered,
		    q->reply, i->reply_length);
	else if (is_taken(q, p, i))
		mark_stream(q, p, i);
	else if (i->decision.verdict == VERDICT_DROP)
		queue_drop(reader, p->id);
	else if (i->decision.verdict == VERDICT_FORWARD)
		hand_over(q, p);
	else
		queue_pass(reader, p->id);
	count(q, p, i);
	/* What is no DNS packet has no addresses to record. */
	if (!i->canary && i->form == PACKET_OK &&
	    i->decision.verdict != VERDICT_FORWARD &&
	    intercept_is_recorded(i,
	    answering_is_recorded(&q->thread, &i->decision)))
		record(q, p, i);
}

static bool
is_suspect(const struct queue_thread *q, uid_t uid)
{
	return q->suspects != NULL && suspects_has(q->suspects, uid,
	    monotime_to_ms(q->thread.now));
}

/* What the queue knows of a packet. */
static void
set_origin(const struct queue_thread *q, struct interception *i,
    const struct queue_packet *p)
{
	i->asker.uid = p->uid;
	i->asker.gid = p->gid;
	i->asker.device = p->device;
	i->asker.now = q->thread.now;
	i->asker.time = q->thread.time;
	i->forward = q->forward;
	i->forward_full = q->forwards && waiting_is_full(
	    &q->thread.threads->waiting, p->uid, q->forward->limits.user,
	    q->forward->limits.held);
	i->policy = generation_policy(q->thread.generation);
}

static void
fetch_packets(struct queue_thread *q, unsigned int first, unsigned int packets)
{
	static const enum table_part parts[] = { TABLE_SLOT, TABLE_NODE };
	const struct table *table = q->thread.generation->table;

	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		for (unsigned int n = 0; n < packets; n++) {
			window_begin_packet(q->window, first + n);
			intercept_fetch(&q->ahead[n], table, parts[part]);
		}
	}
}

/*
 * Up to AHEAD packets of the batch from "first" on: what each needs of a large
 * table is fetched for all.
 */
static void
answer_packets(struct queue_thread *q, unsigned int first,
    unsigned int packets)
{
	const struct queue_packet *p = &q->window->packets[first];
	struct interception *i = q->ahead;
	unsigned int n;

	for (n = 0; n < packets; n++) {
		window_begin_packet(q->window, first + n);
		set_origin(q, &i[n], &p[n]);
		if (is_suspect(q, p[n].uid))
			intercept_unread(&i[n]);
		else
			intercept_parse(&i[n], p[n].octets, p[n].length,
			    p[n].whole_length);
	}
	if (packets > 1 && table_is_large(q->thread.generation->table))
		fetch_packets(q, first, packets);
	for (n = 0; n < packets; n++) {
		window_begin_packet(q->window, first + n);
		answer_packet(q, &p[n], &i[n]);
	}
}

/*
 * After a reload the cache may hold answers of upstreams that are no longer asked,
 * until the forwarding thread has removed them.
 */
static void
look_at_forwarding(struct queue_thread *q)
{
	const struct generation *generation = q->thread.generation;

	q->forward = &generation->settings.forward;
	q->cache = generation->cache != NULL &&
	    cache_generation(generation->cache) == generation->number ?
	    generation->cache : NULL;
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

static void
rescue(struct queue_thread *q)
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

static void
answer_batch(struct queue_thread *q, unsigned int packets)
{
	rescue(q);
	if (packets == 0)
		return;
	answering_begin(&q->thread, monotime_now());
	if (q->forwards)
		look_at_forwarding(q);
	for (unsigned int n = 0; n < packets; n += AHEAD)
		answer_packets(q, n, packets - n < AHEAD ? packets - n : AHEAD);
	window_end_batch(q->window);
	thread_queue_send(&q->queue);
	answering_end(&q->thread);
}

static void
queue_thread_run(struct answering_thread *thread)
{
	struct queue_thread *q = (struct queue_thread *)thread;
	struct queue_packet *packets = q->window->packets;
	int n;

	fault_name_thread(1 + thread->number);
	while (!answering_is_stopping(thread))
		answer_batch(q, (unsigned int)thread_queue_receive(&q->queue,
		    packets));
	while ((n = thread_queue_receive_now(&q->queue, packets)) >= 0)
		answer_batch(q, (unsigned int)n);
}

static void
queue_thread_free(struct answering_thread *thread)
{
	struct queue_thread *q = (struct queue_thread *)thread;

	thread_queue_close(&q->queue);
	free(q->handed);
	free(q);
}

static const struct answering_kind queue_kind = {
	.run = queue_thread_run,
	.free = queue_thread_free,
};

int
queue_thread_start(struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	const struct worker_options *options = &h->options;
	struct queue_thread *q = calloc(1, sizeof(*q));
	int error;

	if (q == NULL)
		return -ENOMEM;
	if (options->forward) {
		q->handed = calloc(HANDED, sizeof(*q->handed));
		if (q->handed == NULL) {
			free(q);
			return -ENOMEM;
		}
	}
	answering_thread_init(&q->thread, threads, number);
	q->window = &h->window->queues[number];
	q->senders = h->senders;
	q->suspects = h->suspects;
	q->raw = h->raw;
	q->mark_mask = options->mark_mask;
	q->mark_answered = options->mark_answered;
	q->uid = options->uid;
	q->mark_stream = options->tcp ? options->mark_stream : 0;
	q->forwards = options->forward;
	q->forward_queue = (uint16_t)(options->queue_number + options->queues);
	/* SO_MARK takes a capability that nfdns-sockets does not have. */
	q->relay_marks = !h->sockets;
	q->queue_number = (uint16_t)(options->queue_number + number);
	error = thread_queue_open(&q->queue, h->queues[number],
	    q->queue_number, q->window->received, q->thread.slot);
	if (error == 0)
		error = answering_thread_start(&q->thread, &queue_kind);
	if (error < 0)
		queue_thread_free(&q->thread);
	return error;
}
