/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One round of the loop: replies of upstreams, what is due, new packets, then
 * the verdicts of all.
 */
#include "nfq/forward/thread.h"

#include <errno.h>
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

#define EVENTS		64	/* of one round */
#define RECEIVES	8	/* from the queue in one round, at most */
#define FLUSHED_AT_ONCE	20000	/* entries that are looked at in one round */
#define REPLIES		16	/* from one socket in one round, at most */
#define IDLE_PART	4	/* of the descriptors that there may be */
#define CHECK_EVERY_MS	1000	/* the count of what waits */

static const struct forward_settings *
forward_settings_of(const struct forward_thread *f)
{
	return &f->thread.generation->settings.forward;
}

/* New packets */

/* What does not come at once makes the next round, which costs no more. */
static void
take_packets(struct forward_thread *f)
{
	int n = QUEUE_BATCH;

	for (unsigned int i = 0; i < RECEIVES && n == QUEUE_BATCH; i++) {
		n = thread_queue_receive_now(&f->queue);
		for (int p = 0; p < n; p++)
			thread_take_packet(f, &f->queue.packets[p]);
		thread_queue_send(&f->queue);
		answering_go_on(&f->thread);
	}
}

/* Replies */

static void
take_replies(struct forward_thread *f, struct upstream_socket *socket)
{
	const uint8_t *octets;
	ssize_t n = 0;

	for (unsigned int i = 0; i < REPLIES && n >= 0; i++) {
		const uint32_t attempt = socket->attempt;

		n = upstream_sockets_receive(&f->sockets, socket, &octets);
		if (n >= 0)
			engine_reply(f->engine, f->boot, attempt, octets,
			    (size_t)n);
		else if (n != -EAGAIN && n != -EINTR)
			engine_error(f->engine, f->boot, attempt, (int)-n);
	}
}

static void
take_tls(struct forward_thread *f)
{
	const int fresh = atomic_exchange(&f->fresh, -1);

	if (fresh < 0)
		return;
	tcp_upstreams_use_tls(f->tcp, f->boot, fresh);
	tcp_upstreams_begin(f->tcp, f->boot);
}

/* A supervisor that is gone shows elsewhere. */
static void
want_tls(struct forward_thread *f)
{
	const struct control_message order = { .kind = CONTROL_TLS_WANTED };

	if (tcp_upstreams_want_tls(f->tcp, f->thread.now, f->has_tls))
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

static void
close_channel(int channel)
{
	if (channel >= 0)
		(void)close(channel);
}

void
forward_take_tls(struct forward_thread *f, int channel)
{
	if (f == NULL) {
		close_channel(channel);
		return;
	}
	close_channel(atomic_exchange(&f->fresh, channel));
	wake(f);
}

static void
show_counters(struct forward_thread *f)
{
	const struct engine_stats *s = engine_stats(f->engine);
	const struct tcp_stats *tcp = tcp_upstreams_stats(f->tcp, false);
	const struct tcp_stats *tls = tcp_upstreams_stats(f->tcp, true);
	const uint64_t values[FORWARD_COUNTERS] = {
		[FORWARD_ANSWERED] = s->answered,
		[FORWARD_HITS] = s->hits,
		[FORWARD_STALE] = s->stale,
		[FORWARD_PREFETCHED] = s->prefetched,
		[FORWARD_FAILED] = s->failed,
		[FORWARD_REFUSED] = s->refused,
		[FORWARD_PASSED] = s->passed,
		[FORWARD_JOINED] = s->joined,
		[FORWARD_ATTEMPTS] = s->attempts,
		[FORWARD_MISMATCHED] = s->mismatched,
		[FORWARD_MALFORMED] = s->malformed,
		[FORWARD_TRUNCATED] = s->truncated,
		[FORWARD_LATE] = s->late,
		[FORWARD_LOOPS] = s->loops,
		[FORWARD_TLS_CONNECTIONS] = tls->connections,
		[FORWARD_TLS_RESUMED] = tls->resumed,
		[FORWARD_TLS_FAILED] = tls->failed,
		[FORWARD_TLS_AGAIN] = tls->again,
		[FORWARD_TLS_UNASKED] = tls->unasked,
		[FORWARD_TCP_CONNECTIONS] = tcp->connections,
		[FORWARD_TCP_AGAIN] = tcp->again,
		[FORWARD_TCP_UNASKED] = tcp->unasked,
	};

	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		atomic_store_explicit(&f->thread.slot->forward[i],
		    i == FORWARD_HELD ? f->held.count :
		    f->before[i] + values[i], memory_order_relaxed);
	forward_page_show(f);
}

/* What is shared with threads that may have other settings yet. */
static void
set_generation(struct forward_thread *f, uint64_t generation)
{
	atomic_store(&f->thread.threads->upstreams->generation, generation);
	if (f->thread.generation->cache != NULL)
		cache_set_generation(f->thread.generation->cache, generation);
}

/* A reload has changed the settings. */
static void
take_settings(struct forward_thread *f)
{
	if (f->generation == f->thread.generation->number)
		return;
	set_generation(f, CACHE_CHANGING);
	engine_reload(f->engine, f->boot, forward_settings_of(f),
	    f->thread.generation->cache);
	thread_streams_note(f, forward_settings_of(f));
	f->generation = f->thread.generation->number;
	forward_page_reload(f);
	set_generation(f, f->generation);
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
	while ((h = held_walk(&f->held, &place)) != NULL)
		waiting_add(f->waiting, h->held.uid);
}

/*
 * The queue threads' count drifts when the kernel drops packets, and by what a worker
 * before this one had handed over.  For moments it is above what is held, by packets
 * on their way; a difference that lasts a second is corrected.
 */
static void
check_waiting(struct forward_thread *f)
{
	const int32_t over = waiting_all(f->waiting) - ((int32_t)f->held.count +
	    (int32_t)thread_express_sum(f, FORWARD_HELD));

	f->over_least = over < f->over_least ? over : f->over_least;
	f->over_most = over > f->over_most ? over : f->over_most;
	if (monotime_is_set(f->checked) &&
	    monotime_ms_since(f->boot, f->checked) < CHECK_EVERY_MS)
		return;
	if (f->over_least > 0 || f->over_most < 0)
		count_waiting(f);
	f->checked = f->boot;
	f->over_least = INT32_MAX;
	f->over_most = INT32_MIN;
}

static void
do_round(struct forward_thread *f, const struct epoll_event *events, int count)
{
	bool queued = false;
	monotime_t due;
	uint64_t woken;

	answering_begin(&f->thread, monotime_now());
	f->boot = monotime_boot();
	take_settings(f);
	do_flush(f);
	if (atomic_exchange(&f->look_due, false))
		engine_look_for_loops(f->engine, f->boot);
	take_tls(f);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &f->tcp)
			thread_tcp_take(f);
		else if (events[i].data.ptr == &f->wake)
			f->errands_left = read(f->wake, &woken,
			    sizeof(woken)) > 0 || f->errands_left;
		else if (events[i].data.ptr != NULL)
			take_replies(f, events[i].data.ptr);
		else
			queued = true;
		answering_go_on(&f->thread);
	}
	if (f->errands_left)
		thread_errands_take(f);
	due = engine_next(f->engine);
	if (monotime_is_due(f->boot, due))
		engine_tick(f->engine, f->boot);
	if (queued)
		take_packets(f);
	else
		check_waiting(f);
	thread_streams_tick(f);
	thread_queue_send(&f->queue);
	want_tls(f);
	upstream_sockets_end_round(&f->sockets, f->boot);
	thread_express_tick(f);
	show_counters(f);
	answering_end(&f->thread);
}

static int
timeout_of(const struct forward_thread *f)
{
	const monotime_t next = monotime_first(engine_next(f->engine),
	    monotime_first(forward_page_next(f),
	    monotime_first(upstream_sockets_next(&f->sockets),
	    tcp_upstreams_next(f->tcp))));

	if (atomic_load(&f->flush_due) || f->errands_left)
		return 0;
	return monotime_is_set(next) ?
	    monotime_poll_timeout(monotime_boot(), next) : -1;
}

static void
forward_run(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;
	struct epoll_event events[EVENTS];

	while (!answering_is_stopping(thread)) {
		int n = epoll_wait(f->epoll, events, EVENTS, timeout_of(f));

		if (n < 0 && errno != EINTR) {
			log_error("forwarding: cannot wait for replies: %s",
			    strerror(errno));
			_exit(WORKER_FAILED);
		}
		do_round(f, events, n > 0 ? n : 0);
	}
}

/* The supervisor gives what is held a verdict, or leaves it to a successor. */
static void
forward_free(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;

	f->ending = true;
	errands_runner_leaves(&f->thread.threads->errands);
	engine_free(f->engine);
	upstream_sockets_close(&f->sockets);
	tcp_upstreams_free(f->tcp);
	held_close(&f->held);
	thread_queue_close(&f->queue);
	close_channel(f->fresh);
	if (f->wake >= 0)
		(void)close(f->wake);
	if (f->epoll >= 0)
		(void)close(f->epoll);
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
	struct engine_host host = forward_host;
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t seed, files;
	int error;

	host.arg = f;
	f->waiting = &f->thread.threads->waiting;
	forward_random(f, &seed, sizeof(seed));
	waiting_init(f->waiting, seed);
	f->over_least = INT32_MAX;
	f->over_most = INT32_MIN;
	error = held_open(&f->held, settings->limits.held);

	if (error == 0)
		error = thread_queue_open(&f->queue, h->queues[number],
		    (uint16_t)(h->options.queue_number + number),
		    f->thread.slot);
	if (error < 0)
		return error;
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->epoll < 0 || f->wake < 0 || epoll_ctl(f->epoll, EPOLL_CTL_ADD,
	    h->queues[number], &event) < 0)
		return -errno;
	event.data.ptr = &f->wake;
	if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->wake, &event) < 0)
		return -errno;
	upstream_sockets_init(&f->sockets, f->epoll, h->options.mark_relay);
	/* Each question has a socket; idle ones leave descriptors to others. */
	files = child_raise_files();
	if (files / IDLE_PART < f->sockets.idle_most)
		f->sockets.idle_most = (unsigned int)(files / IDLE_PART);
	error = thread_streams_init(f, &h->options);
	if (error < 0)
		return error;
	thread_streams_note(f, settings);
	f->generation = generation->number;
	take_cache(generation);
	f->engine = engine_new(&host, settings, generation->cache,
	    f->thread.threads->upstreams, monotime_boot());
	if (f->engine == NULL)
		return -ENOMEM;
	atomic_store(&f->thread.threads->upstreams->generation, f->generation);
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
	f->epoll = f->wake = -1;
	atomic_init(&f->fresh, -1);
	f->control = h->control;
	answering_thread_init(&f->thread, threads, number);
	f->thread.slot->kind = SLOT_FORWARD;
	f->mark_mask = h->options.mark_mask;
	f->mark_answered = h->options.mark_answered;
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		f->before[i] = atomic_load(&f->thread.slot->forward[i]);
	error = init(f, h, number);
	if (error == 0)
		error = answering_thread_start(&f->thread, &forward_kind);
	if (error == 0)
		errands_run_by(&threads->errands, f->wake);
	/* On failure the process ends, and all of this with it. */
	if (error == 0)
		*thread = f;
	return error;
}
