/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/worker/worker.h"
#include "nfq/held/held.h"
#include "nfq/held/holder.h"
#include "nfq/handover/handover.h"
#include "nfq/handover/senders.h"
#include "nfq/packet/intercept.h"
#include "nfq/queue/queue.h"
#include "nfq/thread/answering_thread.h"
#include "nfq/thread/thread_queue.h"
#include "nfq/ask/cached_answer.h"
#include "resolver/clock.h"
#include "resolver/dns/message.h"

int
cached_reply(struct interception *i, const struct answer_source *source,
    struct cache *cache, uint8_t reply[static INTERCEPT_REPLY_MAX],
    bool *absent)
{
	const struct reply_room room = reply_room_of_packet(reply);
	const uint16_t rule = i->decision.rule;
	struct cached_ask ask;
	size_t offset, length;

	if (i->decision.reason != REASON_FORWARD)
		return -1;
	offset = packet_reply_offset(&i->packet);
	ask = (struct cached_ask){
		.message = i->packet.payload,
		.length = i->packet.payload_length,
		.question = &i->question,
		.domain = i->domain,
	};
	length = cached_answer(cache, i->forward, monotime_boot(), &ask,
	    reply + offset, INTERCEPT_REPLY_MAX - offset);
	*absent = ask.absent;
	if (length == 0)
		return -1;
	if (intercept_judge(i, source, &(struct policy_answer){
	    reply + offset, length, 0 }, room))
		return (int)ask.domain;
	i->answer = reply + offset;
	i->answer_length = length;
	i->reply_length = packet_reply(&i->packet, reply, length);
	i->decision = decide_cached(i->answer, length);
	i->decision.rule = rule;
	return (int)ask.domain;
}

/* Packets that are looked at together: the CPU keeps some dozen loads apart. */
#define AHEAD		16

struct queue_thread {
	struct answering_thread thread;
	struct thread_queue queue;
	struct senders *senders;
	uint32_t mark_mask;
	uint32_t mark_odd;		/* more of the mask than passed: rare */
	uint32_t mark_unanswerable;
	uint32_t mark_answered, mark_back;
	uid_t uid;			/* our own */
	uint16_t queue_number;
	uint32_t mark_stream;		/* 0: TCP is not captured */
	struct holder *holder;		/* NULL when the thread ends */
	bool asks;			/* in this batch there is something for it */
	const struct forward_settings *forward;	/* of this batch */
	struct cache *cache;		/* of this batch, or NULL */
	struct policy_source again;	/* the policy, without rates and counters */
	struct interception ahead[AHEAD];
	uint8_t reply[INTERCEPT_REPLY_MAX];
};

/*
 * Questions that wait for upstreams take that part of the queue's room, and not more
 * than so many: before Linux 6.12 a verdict walks over them.
 */
#define QUEUE_SHARE	4
#define QUEUE_HELD	1024
_Static_assert(QUEUE_HELD <= USERS_MAX, "each may be of another user");
/*
 * An upstream is asked for so many questions before the queue is looked at again.
 * Each takes the thread ten times as long as a mesh name, which may wait there.
 */
#define ASKED_AT_ONCE	16

static void
record(struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	const struct policy_note note = intercept_note(i);
	struct audit_record r = {
		.packet_id = p->id,
		.queue = q->queue_number,
		.uid = p->uid,
		.gid = p->gid,
		.answer_length = (uint16_t)i->answer_length,
		.answer = i->answer,
		.stream = i->form == PACKET_UNTAKEN,
	};

	if (!audit_wants_any(q->thread.audit))
		return;
	held_packet_describe(&r, &i->packet);
	answering_set_note(&r, &note);
	answering_record(&q->thread, &i->decision, q->thread.received_ns,
	    i->asker.device, &r);
}

/* Whether the TCP thread takes the connection. */
static bool
is_taken(const struct queue_thread *q, const struct queue_packet *p,
    const struct interception *i)
{
	return i->form == PACKET_STREAM && q->mark_stream != 0 &&
	    (p->mark & q->mark_mask) != q->mark_unanswerable;
}

static bool
is_odd(const struct queue_thread *q, const struct queue_packet *p)
{
	return __builtin_expect((p->mark & q->mark_odd) != 0, 0);
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
		answering_count(&q->thread, &i->decision, &i->asker);
		if (i->form == PACKET_OK)
			answering_count_asked(&q->thread, &i->question,
			    &i->asker);
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
		    .uid = p->uid, .gid = p->gid, .guest = p->guest,
		    .device = p->device,
		    .mark = p->mark & ~q->mark_mask });
	queue_mark(q->queue.reader, p->id,
	    (p->mark & ~q->mark_mask) | q->mark_stream);
}

/*
 * A batch ACCEPT takes all packets up to its id (queue_pass()), those that are held
 * too; so they pass one by one as long as any is.
 */
static void
pass(struct queue_thread *q, uint32_t id)
{
	if (q->holder != NULL && q->holder->table.count == 0)
		queue_pass(q->queue.reader, id);
	else
		queue_release_one(q->queue.reader, id);
}

/* What is no DNS packet is told only if it is dropped, and has addresses. */
static bool
is_told(const struct interception *i)
{
	return i->form == PACKET_OK ||
	    (i->decision.verdict == VERDICT_DROP && i->packet.family != 0);
}

static void
count_hit(struct queue_thread *q, int domain)
{
	answering_count_up(&q->thread.slot->domains[domain][DOMAIN_HITS]);
	answering_count_up(&q->thread.slot->domains[domain][DOMAIN_QUESTIONS]);
}

/* *absent: its answer is in no cache. */
static void
decide_packet(struct queue_thread *q, struct interception *i, bool *absent)
{
	const struct answer_source source =
	    generation_source(q->thread.generation);
	const struct reply_room room = reply_room_of_packet(q->reply);
	int domain = -1;

	intercept_answer(i, &source, q->thread.rotation++, room);
	if (q->cache != NULL)
		domain = cached_reply(i, &source, q->cache, q->reply, absent);
	if (domain >= 0)
		count_hit(q, domain);
}

/*
 * False: too many are held, or it is too long, and it is decided once more, for
 * that; rules have taken their tokens before.  The thread that ends leaves it in the
 * queue, for another worker or the supervisor.
 */
static bool
hold(struct queue_thread *q, const struct queue_packet *p,
    struct interception *i, bool absent)
{
	if (q->holder == NULL || holder_hold(q->holder, p, i, absent))
		return true;
	i->forward_full = true;
	q->again.rules = q->thread.generation->rules;
	i->policy = q->again.rules != NULL ? &q->again : NULL;
	decide_packet(q, i, &absent);
	return false;
}

static void
answer_packet(struct queue_thread *q, const struct queue_packet *p,
    struct interception *i)
{
	struct queue_reader *reader = q->queue.reader;
	bool absent = false, waits;

	decide_packet(q, i, &absent);
	waits = i->decision.verdict == VERDICT_FORWARD && hold(q, p, i, absent);
	if (waits && q->holder == NULL)
		return;
	if (i->reply_length > 0)
		queue_reply(reader, p->id,
		    (p->mark & ~q->mark_mask) |
		    (p->guest ? q->mark_back : q->mark_answered),
		    q->reply, i->reply_length);
	else if (i->decision.verdict == VERDICT_DROP)
		queue_drop(reader, p->id);
	else if (is_taken(q, p, i))
		mark_stream(q, p, i);
	else if (!waits)
		pass(q, p->id);
	count(q, p, i);
	if (!i->canary && is_told(i) && !waits &&
	    intercept_is_recorded(i,
	    answering_is_recorded(&q->thread, &i->decision)))
		record(q, p, i);
}

/* What the queue knows of a packet. */
static void
set_origin(const struct queue_thread *q, struct interception *i,
    const struct queue_packet *p)
{
	i->asker.uid = p->uid;
	i->asker.gid = p->gid;
	i->asker.device = p->guest ? p->device : 0;
	i->asker.now = q->thread.now;
	i->forward = q->forward;
	i->forward_full = false;
	i->policy = generation_policy(q->thread.generation);
	/*
	 * What the marks of ruleset.h say, where a rule could deny: no answer can be
	 * given, or the packet has come again without its user.
	 */
	i->unowned = is_odd(q, p) && p->uid == (uid_t)-1;
	i->unanswerable = is_odd(q, p) &&
	    (p->mark & q->mark_mask) == q->mark_unanswerable;
}

static void
fetch_packets(struct queue_thread *q, unsigned int packets)
{
	static const enum table_part parts[] = { TABLE_SLOT, TABLE_NODE };
	const struct table *table = q->thread.generation->table;

	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
		for (unsigned int n = 0; n < packets; n++)
			intercept_fetch(&q->ahead[n], table, parts[part]);
}

/*
 * Up to AHEAD packets of the batch from "first" on: what each needs of a large
 * table is fetched for all.
 */
static void
answer_packets(struct queue_thread *q, unsigned int first,
    unsigned int packets)
{
	struct queue_packet *p = &q->queue.packets[first];
	struct interception *i = q->ahead;
	unsigned int n;

	for (n = 0; n < packets; n++) {
		set_origin(q, &i[n], &p[n]);
		intercept_parse(&i[n], p[n].octets, p[n].length,
		    p[n].whole_length);
		if (i[n].form == PACKET_STREAM && !is_taken(q, &p[n], &i[n]))
			intercept_untaken(&i[n]);
		if (p[n].guest && i[n].form == PACKET_OK)
			intercept_limit(&i[n].question);
	}
	if (packets > 1 && table_is_large(q->thread.generation->table))
		fetch_packets(q, packets);
	for (n = 0; n < packets; n++)
		answer_packet(q, &p[n], &i[n]);
}

/*
 * After a reload the cache may hold answers of upstreams that are no longer asked,
 * until the main thread has removed them (main_thread.h).
 */
static void
look_at_forwarding(struct queue_thread *q)
{
	const struct generation *generation = q->thread.generation;

	q->forward = &generation->settings.forward;
	q->asks = q->holder != NULL && (q->forward->domains > 0 ||
	    q->forward->chase != 0 || !holder_is_idle(q->holder));
	q->cache = generation->cache != NULL &&
	    cache_generation(generation->cache) == generation->number ?
	    generation->cache : NULL;
	if (q->asks)
		forwarder_begin(q->holder->forwarder, q->cache);
}

static void
begin_batch(struct queue_thread *q)
{
	answering_begin(&q->thread, monotime_now());
	look_at_forwarding(q);
}

static void
end_batch(struct queue_thread *q, unsigned int packets)
{
	for (unsigned int n = 0; n < packets; n += AHEAD)
		answer_packets(q, n, packets - n < AHEAD ? packets - n : AHEAD);
	if (q->asks)
		holder_ask(q->holder, ASKED_AT_ONCE);
	thread_queue_send(&q->queue);
	if (q->asks)
		forwarder_end(q->holder->forwarder,
		    q->holder->table.count);
	answering_end(&q->thread);
}

/* The queue alone, and whatever comes in it. */
static void
answer_queue(struct queue_thread *q, int packets)
{
	if (packets <= 0)
		return;
	begin_batch(q);
	end_batch(q, (unsigned int)packets);
}

/* Replies of upstreams, what is due, and then the queue. */
static void
answer_all(struct queue_thread *q)
{
	struct epoll_event events[FORWARDER_EVENTS];
	const int count = holder_wait(q->holder, events);
	/* Behind so many events the queue may be waiting, too. */
	bool queued = count == FORWARDER_EVENTS;
	int packets = 0;

	for (int i = 0; i < count; i++)
		queued |= events[i].data.ptr == NULL;
	begin_batch(q);
	forwarder_take(q->holder->forwarder, events, count);
	if (queued)
		packets = thread_queue_receive_now(&q->queue);
	end_batch(q, packets > 0 ? (unsigned int)packets : 0);
}

static void
queue_thread_run(struct answering_thread *thread)
{
	struct queue_thread *q = (struct queue_thread *)thread;
	int n;

	while (!answering_is_stopping(thread)) {
		if (q->holder == NULL || holder_is_idle(q->holder))
			answer_queue(q, thread_queue_receive(&q->queue));
		else
			answer_all(q);
	}
	holder_free(q->holder);		/* what it holds stays in the queue */
	q->holder = NULL;
	while ((n = thread_queue_receive_now(&q->queue)) >= 0)
		answer_queue(q, n);
}

static void
queue_thread_free(struct answering_thread *thread)
{
	struct queue_thread *q = (struct queue_thread *)thread;

	thread_queue_close(&q->queue);
	holder_free(q->holder);
	free(q);
}

static const struct answering_kind queue_kind = {
	.run = queue_thread_run,
	.free = queue_thread_free,
};

static int
begin_holding(struct queue_thread *q, const struct worker_handover *h,
    unsigned int number)
{
	const uint32_t most = h->options.maxlen / QUEUE_SHARE;
	const struct holder_options options = {
		.thread = &q->thread, .queue = &q->queue,
		.queue_number = q->queue_number,
		.most = most < QUEUE_HELD ? most : QUEUE_HELD,
		.mark_mask = q->mark_mask, .mark_answered = q->mark_answered,
		.mark_back = q->mark_back,
	};

	return holder_new(&q->holder, &options, h->queues[number],
	    h->options.mark_relay);
}

int
queue_thread_start(struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	const struct worker_options *options = &h->options;
	struct queue_thread *q = calloc(1, sizeof(*q));
	int error;

	if (q == NULL)
		return -ENOMEM;
	answering_thread_init(&q->thread, threads, number);
	q->senders = h->senders;
	q->mark_mask = options->mark_mask;
	q->mark_odd = options->mark_mask & ~options->mark_passed;
	q->mark_unanswerable = options->mark_unanswerable;
	q->mark_answered = options->mark_answered;
	q->mark_back = options->mark_answered | options->mark_passed;
	q->uid = options->uid;
	q->mark_stream = options->tcp ? options->mark_stream : 0;
	q->queue_number = (uint16_t)(options->queue_number + number);
	error = thread_queue_open(&q->queue, h->queues[number],
	    q->queue_number, q->thread.slot);
	if (error == 0)
		error = begin_holding(q, h, number);
	if (error == 0)
		error = answering_thread_start(&q->thread, &queue_kind);
	if (error < 0)
		queue_thread_free(&q->thread);
	return error;
}
