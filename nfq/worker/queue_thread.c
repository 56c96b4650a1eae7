/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/worker/queue_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nfq/worker/fault.h"
#include "nfq/packet/intercept.h"
#include "nfq/queue/queue.h"
#include "nfq/handover/senders.h"
#include "resolver/clock.h"
#include "policy/log.h"

/* Packets that are looked at together: the CPU keeps some dozen loads apart. */
#define AHEAD		16

struct queue_thread {
	struct queue_threads *all;
	unsigned int number;		/* of the queue, the slot and the ring */
	pthread_t thread;
	struct queue_reader *reader;
	struct status_worker *slot;
	struct window_queue *window;	/* the supervisor sees it */
	uint32_t rotation;
	bool recorded;			/* something of this batch */
	monotime_t now;			/* when the batch was read */
	uint64_t gaps_before;		/* counted by workers before this one */
	uint64_t errors_before;
	generation_place in_use;
	atomic_bool done;
	struct interception ahead[AHEAD];
	uint8_t reply[INTERCEPT_REPLY_MAX];
};

struct queue_threads {
	struct queue_thread *threads;
	unsigned int count;
	uint32_t mark_mask;
	uint32_t mark_answered;
	uint32_t mark_stream;		/* 0: TCP is not captured */
	bool relay_marks;		/* a relay can carry the client's mark */
	struct senders *senders;
	struct audit *audit;
	const struct suspects *suspects;	/* NULL: there are none */
	pthread_barrier_t begin;
	generation_place current;
	atomic_bool stopping;
};

/* One writer a counter: no read-modify-write is needed. */
static void
count_up(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter,
	    memory_order_relaxed) + 1, memory_order_relaxed);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
record(struct queue_thread *j, const struct queue_packet *p,
    const struct interception *i, uint64_t generation, uint64_t received_ns)
{
	const uint64_t now = now_ns();
	const size_t octets = i->packet.family == AF_INET ? 4 : 16;
	struct audit_record r = {
		.time_ns = now,
		.spent_ns = now > received_ns ? (uint32_t)(now - received_ns) : 0,
		.packet_id = p->id,
		.generation = generation,
		.uid = p->uid,
		.gid = p->gid,
		.client_port = i->packet.source_port,
		.server_port = i->packet.destination_port,
		.family = i->packet.family,
		.verdict = i->decision.verdict,
		.reason = i->decision.reason,
		.rcode = i->decision.rcode,
		.question_length = (uint16_t)(i->packet.payload_length),
		.answer_length = (uint16_t)i->answer_length,
		.question = i->packet.payload,
		.answer = i->answer,
	};

	memcpy(r.client, i->packet.source, octets);
	memcpy(r.server, i->packet.destination, octets);
	(void)audit_put(j->all->audit, j->number, &r);
	j->recorded = true;
}

/*
 * Whether the TCP thread takes the connection.  Marks of others route packets
 * (ip-rule(8), fwmark): a relay that cannot carry such a mark may go elsewhere
 * than the client wants, so the connection goes on by itself.
 */
static bool
is_taken(const struct queue_threads *all, const struct queue_packet *p,
    const struct interception *i)
{
	return i->form == PACKET_STREAM && all->mark_stream != 0 &&
	    (all->relay_marks || (p->mark & ~all->mark_mask) == 0);
}

static void
count(struct queue_thread *j, const struct queue_packet *p,
    const struct interception *i)
{
	struct status_worker *s = j->slot;

	if (i->canary) {
		count_up(&s->canaries);
		return;
	}
	if (is_taken(j->all, p, i)) {
		/* Its questions are counted when they come. */
		count_up(&s->streams);
		return;
	}
	count_up(&s->received);
	count_up(&s->verdicts[i->decision.verdict]);
	count_up(&s->reasons[i->decision.reason]);
	if (i->decision.reason == REASON_MALFORMED)
		count_up(&s->malformed);
}

/* The connection may be accepted as soon as its first packet goes on. */
static void
mark_stream(struct queue_thread *j, const struct queue_packet *p,
    const struct interception *i)
{
	const struct queue_threads *all = j->all;
	const size_t octets = i->packet.family == AF_INET ? 4 : 16;
	struct sender_ends ends;

	memset(&ends, 0, sizeof(ends));
	memcpy(ends.client, i->packet.source, octets);
	memcpy(ends.server, i->packet.destination, octets);
	ends.client_port = i->packet.source_port;
	if (all->senders != NULL)
		senders_put(all->senders, &ends, &(struct sender){
		    .uid = p->uid, .gid = p->gid, .device = p->device,
		    .mark = p->mark & ~all->mark_mask });
	queue_mark(j->reader, p->id,
	    (p->mark & ~all->mark_mask) | all->mark_stream);
}

static void
answer_packet(struct queue_thread *j, const struct queue_packet *p,
    struct interception *i, const struct generation *generation,
    uint64_t received_ns)
{
	const struct queue_threads *all = j->all;

	intercept_answer(i, generation->table, j->rotation++, j->reply);
	if (i->reply_length > 0)
		queue_reply(j->reader, p->id,
		    (p->mark & ~all->mark_mask) | all->mark_answered,
		    j->reply, i->reply_length);
	else if (is_taken(all, p, i))
		mark_stream(j, p, i);
	else if (i->decision.verdict == VERDICT_DROP)
		queue_drop(j->reader, p->id);
	else
		queue_pass(j->reader, p->id);
	count(j, p, i);
	/* What is no DNS packet has no addresses to record. */
	if (!i->canary && i->form == PACKET_OK &&
	    audit_wants(all->audit, i->decision.verdict))
		record(j, p, i, generation->number, received_ns);
}

static bool
is_suspect(const struct queue_thread *j, uid_t uid)
{
	return j->all->suspects != NULL && suspects_has(j->all->suspects, uid,
	    monotime_to_ms(j->now));
}

/* What the queue knows of a packet. */
static void
set_origin(const struct queue_thread *j, struct interception *i,
    const struct queue_packet *p)
{
	i->asker.uid = p->uid;
	i->asker.gid = p->gid;
	i->asker.device = p->device;
	i->asker.now = j->now;
}

static void
fetch_packets(struct queue_thread *j, unsigned int first, unsigned int packets,
    const struct table *table)
{
	static const enum table_part parts[] = { TABLE_SLOT, TABLE_NODE };

	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		for (unsigned int n = 0; n < packets; n++) {
			window_judge(j->window, first + n);
			intercept_fetch(&j->ahead[n], table, parts[part]);
		}
	}
}

/* Up to AHEAD packets: what each needs of a large table is fetched for all. */
static void
answer_packets(struct queue_thread *j, const struct queue_packet *p,
    unsigned int packets, const struct generation *s, uint64_t received_ns)
{
	struct interception *i = j->ahead;
	const unsigned int first = (unsigned int)(p - j->window->packets);
	unsigned int n;

	for (n = 0; n < packets; n++) {
		window_judge(j->window, first + n);
		set_origin(j, &i[n], &p[n]);
		if (is_suspect(j, p[n].uid))
			intercept_unread(&i[n]);
		else
			intercept_parse(&i[n], p[n].octets, p[n].length,
			    p[n].whole_length);
	}
	if (packets > 1 && table_is_large(s->table))
		fetch_packets(j, first, packets, s->table);
	for (n = 0; n < packets; n++) {
		window_judge(j->window, first + n);
		answer_packet(j, &p[n], &i[n], s, received_ns);
	}
}

static void
answer_batch(struct queue_thread *j, unsigned int packets)
{
	const uint64_t received_ns =
	    audit_wants(j->all->audit, VERDICT_ANSWER) ? now_ns() : 0;
	struct status_worker *slot = j->slot;
	const struct generation *s;
	int error;

	j->now = monotime_now();
	/* For the supervisor, should we die or get stuck in this batch. */
	atomic_store_explicit(&slot->last_id, queue_last_id(j->reader),
	    memory_order_relaxed);
	atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
	s = generation_get(&j->in_use, &j->all->current);
	for (unsigned int n = 0; n < packets; n += AHEAD)
		answer_packets(j, &j->window->packets[n],
		    packets - n < AHEAD ? packets - n : AHEAD, s, received_ns);
	window_judged(j->window);
	atomic_store_explicit(&slot->table_generation, s->number,
	    memory_order_relaxed);
	error = queue_send(j->reader);
	generation_put(&j->in_use);
	if (j->recorded)
		audit_wake(j->all->audit);
	j->recorded = false;
	if (error < 0) {
		/* The packets still wait; our successor gets them again. */
		log_error("queue %u: cannot send verdicts: %s", j->number,
		    strerror(-error));
		_exit(WORKER_FAILED);
	}
	count_up(&slot->batches);
	atomic_store_explicit(&slot->busy, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->id_gaps,
	    j->gaps_before + queue_gaps(j->reader), memory_order_relaxed);
	atomic_store_explicit(&slot->verdict_errors,
	    j->errors_before + queue_verdict_errors(j->reader),
	    memory_order_relaxed);
}

/*
 * What queue_receive() returned instead of packets.  A worker that cannot read
 * is of no use: it ends, and its successor gets what is left.
 */
static void
check_receive(const struct queue_thread *j, int error)
{
	switch (error) {
	case 0:
	case -EINTR:
	case -EAGAIN:
	case -ENOBUFS:
		return;
	case -EPERM:
		log_error("the kernel refuses verdicts: CAP_NET_ADMIN is "
		    "missing: run as root or through systemd");
		_exit(WORKER_NO_PRIVILEGE);
	default:
		log_error("queue %u: cannot read packets: %s", j->number,
		    strerror(-error));
		_exit(WORKER_FAILED);
	}
}

static void *
queue_thread_run(void *argument)
{
	struct queue_thread *j = argument;
	int n;

	fault_name_thread(1 + j->number);
	(void)pthread_barrier_wait(&j->all->begin);
	while (!atomic_load_explicit(&j->all->stopping, memory_order_relaxed)) {
		n = queue_receive(j->reader, j->window->packets);
		if (n > 0)
			answer_batch(j, (unsigned int)n);
		else
			check_receive(j, n);
	}
	while ((n = queue_receive_now(j->reader,
	    j->window->packets)) != -EAGAIN) {
		if (n > 0)
			answer_batch(j, (unsigned int)n);
		else
			check_receive(j, n);
	}
	atomic_store(&j->done, true);
	return NULL;
}

/* What a queue thread needs before its thread exists. */
static int
queue_thread_init(struct queue_thread *j, struct queue_threads *all,
    unsigned int number, const struct worker_handover *h)
{
	struct status_worker *slot = &h->status->workers[number];

	j->all = all;
	j->number = number;
	j->slot = slot;
	j->window = &h->window->queues[number];
	j->gaps_before = atomic_load(&slot->id_gaps);
	j->errors_before = atomic_load(&slot->verdict_errors);
	atomic_store(&slot->busy, 0);
	atomic_store(&slot->table_generation, h->generation->number);
	return queue_reader_new(&j->reader, h->queues[number],
	    (uint16_t)(h->config->queue.number + number),
	    j->window->received);
}

/* Interrupts queue_receive(); there is nothing else to do. */
static void
wake(int signal_number)
{
	(void)signal_number;
}

int
queue_threads_start(struct queue_threads **threads,
    const struct worker_handover *h, const struct generation *generation,
    struct audit *audit)
{
	const unsigned int count = h->config->queue.workers;
	struct sigaction action = { .sa_handler = wake };	/* no SA_RESTART */
	struct queue_threads *all = calloc(1, sizeof(*all));
	int error = 0;

	if (all == NULL)
		return -ENOMEM;
	(void)sigaction(SIGUSR1, &action, NULL);
	all->mark_mask = h->config->capture.mark_mask;
	all->mark_answered = h->config->capture.mark_answered;
	if (h->config->capture.tcp)
		all->mark_stream = h->config->capture.mark_stream;
	/* SO_MARK takes a capability that nfdns-sockets does not have. */
	all->relay_marks = !h->sockets;
	all->senders = h->senders;
	all->audit = audit;
	all->suspects = h->suspects;
	all->count = count;
	atomic_store(&all->current, generation);
	all->threads = calloc(count, sizeof(*all->threads));
	if (all->threads == NULL ||
	    pthread_barrier_init(&all->begin, NULL, count + 1) != 0)
		error = -ENOMEM;
	for (unsigned int n = 0; n < count && error == 0; n++) {
		struct queue_thread *j = &all->threads[n];

		error = queue_thread_init(j, all, n, h);
		if (error == 0)
			error = -pthread_create(
			    &j->thread, NULL, queue_thread_run, j);
	}
	/*
	 * On failure the process ends: threads that wait at the barrier cannot
	 * be called back, so nothing of this may be freed.
	 */
	if (error == 0)
		*threads = all;
	return error;
}

void
queue_threads_begin(struct queue_threads *all)
{
	(void)pthread_barrier_wait(&all->begin);
}

void
queue_threads_swap(struct queue_threads *all, const struct generation *next)
{
	const struct generation *old = atomic_exchange(&all->current, next);

	for (unsigned int n = 0; n < all->count; n++) {
		struct queue_thread *j = &all->threads[n];

		generation_wait(&j->in_use, old);
		/* An idle thread has answered nothing, but would from this. */
		atomic_store_explicit(&j->slot->table_generation,
		    next->number, memory_order_relaxed);
	}
}

void
queue_threads_stop(struct queue_threads *all)
{
	atomic_store(&all->stopping, true);
	for (unsigned int n = 0; n < all->count; n++) {
		struct queue_thread *j = &all->threads[n];

		/*
		 * A signal that comes between the thread's look at "stopping"
		 * and its system call interrupts nothing, so one is not enough.
		 */
		while (!atomic_load(&j->done)) {
			(void)pthread_kill(j->thread, SIGUSR1);
			generation_pause();
		}
		(void)pthread_join(j->thread, NULL);
		queue_reader_free(j->reader);
	}
	(void)pthread_barrier_destroy(&all->begin);
	free(all->threads);
	free(all);
}
