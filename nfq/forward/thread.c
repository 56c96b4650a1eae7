/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One round of the loop: replies of upstreams, what is due, new packets, then
 * the verdicts of all.
 */
#include "nfq/forward/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/forward/thread_state.h"
#include "nfq/handover/control.h"
#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "policy/log.h"

#define RECEIVES	8	/* from the queue in one round, at most */
#define FLUSHED_AT_ONCE	20000	/* entries that are looked at in one round */
#define CHECK_EVERY_MS	1000	/* the count of what waits */

static const struct forward_settings *
forward_settings_of(const struct forward_thread *f)
{
	return &f->thread.generation->settings.forward;
}

/* Of a packet that is not held. */
static void
record(struct forward_thread *f, const struct queue_packet *p)
{
	const struct interception *i = &f->interception;
	const struct held_packet packet = {
		.id = p->id, .uid = p->uid, .gid = p->gid,
		.received_ns = f->thread.received_ns,
		.decision = i->decision, .note = intercept_note(i),
		.packet = i->packet };

	if (i->form == PACKET_OK)
		held_packet_record(&packet, &f->thread, 0, i->answer,
		    i->answer_length);
}

/*
 * The queue names no user once the socket is closed.  Nobody waits for the answer
 * then, but a rule could deny a name that it leads to.
 */
static bool
is_unjudged(struct forward_thread *f, const struct queue_packet *p)
{
	struct interception *i = &f->interception;

	if (p->uid != (uid_t)-1 || !intercept_drop_unowned(i))
		return false;
	answering_count(&f->thread, &i->decision);
	record(f, p);
	return true;
}

/*
 * The queue's thread has decided this before, perhaps by settings that have
 * changed since: what is none of ours any more is answered, or passes.
 */
static void
take_packet(struct forward_thread *f, const struct queue_packet *p)
{
	const struct answer_source source =
	    generation_source(f->thread.generation);
	struct interception *i = &f->interception;

	i->asker = (struct asker){ .now = f->thread.now, .uid = p->uid,
		.gid = p->gid, .device = p->device };
	f->policy.rules = f->thread.generation->rules;
	i->policy = f->policy.rules != NULL ? &f->policy : NULL;
	i->forward = &f->thread.generation->settings.forward;
	i->forward_full = false;
	intercept_parse(i, p->octets, p->length, p->whole_length);
	intercept_answer(i, &source, f->thread.rotation++, f->reply);
	if (!is_unjudged(f, p) && i->decision.verdict == VERDICT_FORWARD) {
		if (forwarder_hold(f->forwarder, p, i))
			return;
		/* Too long, or too many: what the domain says of that. */
		i->forward_full = true;
		intercept_answer(i, &source, f->thread.rotation, f->reply);
		record(f, p);
	}
	waiting_end(f->waiting, p->uid);
	if (i->reply_length > 0)
		queue_reply(f->queue.reader, p->id,
		    (p->mark & ~f->mark_mask) | f->mark_answered, f->reply,
		    i->reply_length);
	else if (i->decision.verdict == VERDICT_DROP)
		queue_drop(f->queue.reader, p->id);
	else
		queue_release_one(f->queue.reader, p->id);
}

/* What does not come at once makes the next round, which costs no more. */
static void
take_packets(struct forward_thread *f)
{
	int n = QUEUE_BATCH;

	for (unsigned int i = 0; i < RECEIVES && n == QUEUE_BATCH; i++) {
		n = thread_queue_receive_now(&f->queue);
		for (int p = 0; p < n; p++)
			take_packet(f, &f->queue.packets[p]);
		forwarder_ask(f->forwarder, UINT_MAX);
		thread_queue_send(&f->queue);
		answering_go_on(&f->thread);
	}
}

/* A supervisor that is gone shows elsewhere. */
static void
want_tls(struct forward_thread *f)
{
	const struct control_message order = { .kind = CONTROL_TLS_WANTED };

	if (tcp_upstreams_want_tls(f->forwarder->tcp, f->thread.now,
	    f->has_tls) || atomic_exchange(&f->thread.threads->wants_tls, false))
		(void)!control_send(f->control, &order, NULL, 0);
}

static void
wake(struct forward_thread *f)
{
	const uint64_t one = 1;

	(void)!write(f->wake, &one, sizeof(one));
}

void
forward_look_for_loops(struct forward_thread *f)
{
	if (f == NULL)
		return;
	atomic_store(&f->look_due, true);
	wake(f);
}

bool
forward_take_flush(struct forward_thread *f, const struct flush *flush)
{
	if (f == NULL || atomic_load(&f->flush_due))
		return false;
	f->flush = *flush;
	atomic_store(&f->flush_due, true);
	wake(f);
	return true;
}

/*
 * A part of it in each round, between which packets and replies are handled.  The
 * supervisor gives the next order when this one is answered.
 */
static void
do_flush(struct forward_thread *f)
{
	struct control_message answer = { .kind = CONTROL_FLUSHED,
		.generation = f->flush.number };
	struct cache *cache = f->thread.generation->cache;

	if (!atomic_load(&f->flush_due))
		return;
	if (cache != NULL)
		f->flushed += cache_flush_part(cache, &f->flush.name,
		    f->flush.below, &f->flush_place, FLUSHED_AT_ONCE);
	if (cache != NULL && f->flush_place != 0)
		return;
	answer.names = cache != NULL ? f->flushed : CONTROL_NO_CACHE;
	f->flush_place = f->flushed = 0;
	atomic_store(&f->flush_due, false);
	(void)!control_send(f->control, &answer, NULL, 0);
}

void
forward_take_generation(struct forward_thread *f)
{
	if (f != NULL)
		wake(f);
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
static void
note_tls(struct forward_thread *f, const struct forward_settings *settings)
{
	f->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		f->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}

/* After a reload nothing is kept until what it removes is gone. */
static void
take_settings(struct forward_thread *f)
{
	const struct generation *generation = f->thread.generation;
	const bool reloaded = f->forwarder->generation != generation->number;

	if (reloaded && generation->cache != NULL)
		cache_set_generation(generation->cache, CACHE_CHANGING);
	forwarder_begin(f->forwarder, generation->cache);
	if (!reloaded)
		return;
	note_tls(f, forward_settings_of(f));
	forward_page_reload(f);
	if (generation->cache != NULL)
		cache_set_generation(generation->cache, generation->number);
}

/*
 * What a worker before this one has kept.  If it died between a reload and what
 * that removes, nothing says which answers are still good.
 */
static void
take_cache(const struct generation *generation)
{
	const struct dns_name root = { .length = 1 };
	struct cache *cache = generation->cache;

	if (cache == NULL)
		return;
	if (cache_generation(cache) != generation->number)
		(void)cache_flush(cache, &root, true);
	cache_set_generation(cache, generation->number);
}

static void
count_waiting(struct forward_thread *f)
{
	const struct held *h;
	uint32_t place = 0;

	waiting_clear(f->waiting);
	while ((h = held_walk(&f->forwarder->held, &place)) != NULL)
		waiting_add(f->waiting, h->held.uid);
}

/* Questions that queue threads hold. */
static uint32_t
held_elsewhere(const struct forward_thread *f)
{
	uint64_t sum = 0;

	for (unsigned int q = 0; q < f->page.queues; q++)
		sum += atomic_load_explicit(
		    &f->page.slots[q].forward[FORWARD_HELD],
		    memory_order_relaxed);
	return (uint32_t)sum;
}

/*
 * The count of what was handed over drifts when the kernel drops packets, and by what
 * a worker before this one had handed over.  For moments it is above what is held, by
 * packets on their way; a difference that lasts a second is corrected, when queue
 * threads hold nothing.
 */
static void
check_waiting(struct forward_thread *f)
{
	const uint32_t elsewhere = held_elsewhere(f);
	const int32_t over = waiting_all(f->waiting) -
	    (int32_t)(f->forwarder->held.count + elsewhere);

	f->over_least = over < f->over_least ? over : f->over_least;
	f->over_most = over > f->over_most ? over : f->over_most;
	if (elsewhere > 0 || (monotime_is_set(f->checked) &&
	    monotime_ms_since(f->forwarder->boot, f->checked) < CHECK_EVERY_MS))
		return;
	if (f->over_least > 0 || f->over_most < 0)
		count_waiting(f);
	f->checked = f->forwarder->boot;
	f->over_least = INT32_MAX;
	f->over_most = INT32_MIN;
}

static void
do_round(struct forward_thread *f, const struct epoll_event *events, int count)
{
	bool queued = false;
	uint64_t woken;

	answering_begin(&f->thread, monotime_now());
	take_settings(f);
	do_flush(f);
	if (atomic_exchange(&f->look_due, false))
		engine_look_for_loops(f->forwarder->engine, f->forwarder->boot);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &f->wake)
			f->errands_left = read(f->wake, &woken,
			    sizeof(woken)) > 0 || f->errands_left;
		queued |= events[i].data.ptr == NULL;
	}
	forwarder_take(f->forwarder, events, count);
	if (f->errands_left)
		thread_errands_take(f);
	if (queued)
		take_packets(f);
	else
		check_waiting(f);
	thread_queue_send(&f->queue);
	want_tls(f);
	forwarder_end(f->forwarder);
	forward_page_show(f);
	answering_end(&f->thread);
}

static void
forward_run(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;
	struct epoll_event events[FORWARDER_EVENTS];

	while (!answering_is_stopping(thread)) {
		const bool now = atomic_load(&f->flush_due) || f->errands_left;

		do_round(f, events, forwarder_wait(f->forwarder, events, now ?
		    f->forwarder->boot : forward_page_next(f)));
	}
}

/* The supervisor gives what is held a verdict, or leaves it to a successor. */
static void
forward_free(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;

	errands_runner_leaves(&f->thread.threads->errands);
	forwarder_free(f->forwarder);
	thread_queue_close(&f->queue);
	if (f->wake >= 0)
		(void)close(f->wake);
	free(f);
}

static const struct answering_kind forward_kind = {
	.run = forward_run,
	.free = forward_free,
};

/* 0 or a negative errno. */
static int
init(struct forward_thread *f, const struct worker_handover *h,
    unsigned int number)
{
	const struct generation *generation =
	    atomic_load(&f->thread.threads->current);
	const struct forward_settings *settings = &generation->settings.forward;
	const struct forwarder_options options = {
		.thread = &f->thread, .queue = &f->queue,
		.queue_fd = h->queues[number], .most = settings->limits.held,
		.mark_mask = f->mark_mask, .mark_answered = f->mark_answered,
		.mark_relay = h->options.mark_relay,
		.streams = &thread_errands, .arg = f, .keeps = true,
	};
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = &f->wake };
	uint64_t seed;
	int error;

	f->over_least = INT32_MAX;
	f->over_most = INT32_MIN;
	error = thread_queue_open(&f->queue, h->queues[number],
	    (uint16_t)(h->options.queue_number + number), f->thread.slot);
	if (error == 0)
		error = forwarder_new(&f->forwarder, &options);
	if (error < 0)
		return error;
	f->waiting = &f->thread.threads->waiting;
	forwarder_random(f->forwarder, &seed, sizeof(seed));
	waiting_init(f->waiting, seed);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0 || epoll_ctl(f->forwarder->epoll, EPOLL_CTL_ADD, f->wake,
	    &event) < 0)
		return -errno;
	(void)child_raise_files();	/* each question has a socket */
	note_tls(f, settings);
	take_cache(generation);
	forward_page_begin(f, h->status->forwarding, h->status->workers,
	    h->options.queues);
	return 0;
}

int
forward_start(struct forward_thread **thread, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	struct forward_thread *f = calloc(1, sizeof(*f));
	int error;

	*thread = NULL;
	if (f == NULL)
		return -ENOMEM;
	f->wake = -1;
	f->control = h->control;
	answering_thread_init(&f->thread, threads, number);
	f->thread.slot->kind = SLOT_FORWARD;
	f->mark_mask = h->options.mark_mask;
	f->mark_answered = h->options.mark_answered;
	error = init(f, h, number);
	if (error == 0)
		error = answering_thread_start(&f->thread, &forward_kind);
	if (error == 0) {
		errands_run_by(&threads->errands, f->wake);
		atomic_store(&threads->keeper, f->wake);
	}
	/* On failure the process ends, and all of this with it. */
	if (error == 0)
		*thread = f;
	return error;
}
