/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/stream.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/stream/parts.h"
#include "policy/log.h"

#define TICK_MS		250
#define ACCEPTS		64	/* a round, of each listener */
#define SPARE_FILES	128	/* besides two for each connection */

static void
set_counter(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static void
count_open(struct stream *s)
{
	set_counter(&s->slot->stream[STREAM_OPEN], s->count);
}

/*
 * After a step: the last one, or the end.  Nobody else decides that connections
 * with work under way end.
 */
static void
finish(struct stream *s, struct stream_connection *c, enum stream_next next)
{
	if (next == STREAM_GO_ON)
		next = stream_client_settle(s, c);
	if (next == STREAM_WANTS_RAW) {
		next = STREAM_CLOSE;
		if (stream_admit_raw(s, c))
			next = stream_client_begin_raw(s, c);
		if (next == STREAM_GO_ON)
			next = stream_client_settle(s, c);
	}
	if (next == STREAM_CLOSE) {
		stream_mark_closed(s, c);
		s->output_used = 0;	/* was for this client alone */
	}
	assert(s->output_used == 0);
}

void
stream_arrive(struct stream *s, const struct stream_arrival *arrival)
{
	struct stream_connection *c = stream_welcome(s, arrival);

	if (c != NULL)
		finish(s, c, STREAM_GO_ON);
}

static void
accept_some(struct stream *s, struct stream_end *listener)
{
	struct stream_arrival arrival;

	for (int i = 0; i < ACCEPTS && stream_accept(s, listener, &arrival);
	    i++)
		if (arrival.fd >= 0)
			stream_arrive(s, &arrival);
}

static void
take_opened(struct stream *s)
{
	struct stream_opened opened;

	while (stream_sockets_next(s, &opened))
		finish(s, opened.connection, stream_relay_opened(s,
		    opened.connection, opened.fd));
}

static void
handle(struct stream *s, struct stream_end *end, uint32_t events)
{
	struct stream_connection *c = end->connection;
	uint64_t wakes;

	switch (end->role) {
	case ROLE_WAKE:
		(void)!read(end->fd, &wakes, sizeof(wakes));
		stream_sockets_take(s);
		take_opened(s);
		break;
	case ROLE_SOCKETS:
		take_opened(s);
		break;
	case ROLE_LISTENER:
		accept_some(s, end);
		break;
	case ROLE_CLIENT:
	case ROLE_SERVER:
		if (c->closed)
			break;		/* earlier in this round */
		stream_touch(s, c);
		finish(s, c, end->role == ROLE_CLIENT ?
		    stream_client_ready(s, c, events) :
		    stream_relay_ready(s, c, events));
		break;
	}
}

static void
tick(struct stream *s)
{
	struct stream_connection *c, *next;
	enum stream_next step;

	if (monotime_ms_since(s->now, s->ticked) < TICK_MS)
		return;
	s->ticked = s->now;
	for (c = TAILQ_FIRST(&s->all); c != NULL; c = next) {
		next = TAILQ_NEXT(c, in_all);
		step = stream_client_tick(s, c);
		if (step == STREAM_GO_ON)
			step = stream_relay_tick(s, c);
		finish(s, c, step);
		if (next != NULL && next->closed)
			break;	/* c took its place; the others next time */
	}
	stream_sockets_tick(s);
	stream_accept_again(s);
}

/* Each connection takes two files: the client's socket and the nameserver's. */
static void
check_files(const struct stream *s)
{
	uint64_t wanted = 2 * (uint64_t)s->limits.connections + SPARE_FILES;

	if (s->files_max < wanted)
		log_warning("TCP: this process may open %llu files, %llu are "
		    "needed: lower stream.connections or raise LimitNOFILE",
		    (unsigned long long)s->files_max,
		    (unsigned long long)wanted);
}

/*
 * Limits that a reload has changed hold for all connections from here on.  Those
 * above a lower limit are closed if they are idle; the others end by themselves.
 */
static void
take_limits(struct stream *s)
{
	const struct stream_settings *limits = &s->generation->settings.stream;
	const uint32_t before = s->limits.connections;

	if (memcmp(limits, &s->limits, sizeof(*limits)) == 0)
		return;
	s->limits = *limits;
	if (s->limits.connections > before &&
	    stream_clients_grow(s->clients, s->limits.connections + 1) < 0) {
		log_error("TCP: out of memory: stream.connections stays %u",
		    (unsigned int)before);
		s->limits.connections = before;
	}
	if (s->limits.connections != before)
		check_files(s);
	while (s->count > s->limits.connections && stream_evict_idle(s))
		;
}

void
stream_round(struct stream *s, const struct epoll_event *events, int count,
    monotime_t now)
{
	struct status_worker *slot = s->slot;

	s->now = now;
	atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
	s->generation = generation_get(&s->in_use, &s->current);
	atomic_store_explicit(&slot->table_generation, s->generation->number,
	    memory_order_relaxed);
	take_limits(s);
	for (int i = 0; i < count; i++)
		handle(s, events[i].data.ptr, events[i].events);
	tick(s);
	stream_free_closed(s);
	generation_put(&s->in_use);
	s->generation = NULL;
	count_open(s);
	set_counter(&slot->batches, atomic_load_explicit(&slot->batches,
	    memory_order_relaxed) + 1);
	atomic_store_explicit(&slot->busy, 0, memory_order_relaxed);
}

static void *
run(void *argument)
{
	struct stream *s = argument;
	struct epoll_event events[STREAM_EVENTS];

	(void)pthread_barrier_wait(&s->up);
	(void)pthread_barrier_wait(&s->begin);
	while (!atomic_load(&s->stopping)) {
		int n = epoll_wait(s->epoll, events, STREAM_EVENTS,
		    s->count > 0 || s->paused ? TICK_MS : -1);

		if (n < 0 && errno != EINTR) {
			log_error("TCP: cannot wait for connections: %s",
			    strerror(errno));
			_exit(WORKER_FAILED);
		}
		stream_round(s, events, n > 0 ? n : 0, monotime_now());
		/* Packets of the queue, should its threads share our CPU. */
		(void)sched_yield();
	}
	return NULL;
}

/*
 * As many open files as this process may have: a reload can raise
 * stream.connections, and by then the sandbox forbids setrlimit(2).
 */
static uint64_t
raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return UINT64_MAX;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

/* 0 or a negative errno. */
static int
init(struct stream *s, const struct worker_handover *h)
{
	s->clients = stream_clients_new(s->limits.connections + 1);
	if (s->clients == NULL)
		return -ENOMEM;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = (struct stream_end){ ROLE_WAKE,
		eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 0, NULL };
	if (s->epoll < 0 || s->wake.fd < 0)
		return -errno;
	stream_watch(s, &s->wake, EPOLLIN);
	stream_sockets_init(s, h);
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		s->listeners[i] = (struct stream_end){ ROLE_LISTENER,
			h->listeners[i], 0, NULL };
		if (h->listeners[i] >= 0)
			stream_watch(s, &s->listeners[i], EPOLLIN);
	}
	if (pthread_barrier_init(&s->up, NULL, 2) != 0 ||
	    pthread_barrier_init(&s->begin, NULL, 2) != 0)
		return -ENOMEM;
	return 0;
}

int
stream_new(struct stream **stream, const struct worker_handover *h,
    const struct generation *generation, struct audit *audit, unsigned int slot)
{
	struct stream *s = calloc(1, sizeof(*s));

	*stream = s;
	if (s == NULL)
		return -ENOMEM;
	TAILQ_INIT(&s->all);
	TAILQ_INIT(&s->raws);
	TAILQ_INIT(&s->dead);
	s->config = h->config;
	s->limits = generation->settings.stream;
	s->files_max = UINT64_MAX;
	s->slot = &h->status->workers[slot];
	s->senders = h->senders;
	s->audit = audit;
	s->ring = slot;
	atomic_store(&s->slot->busy, 0);
	atomic_store(&s->slot->table_generation, generation->number);
	atomic_store(&s->current, generation);
	count_open(s);
	return init(s, h);
}

void
stream_free(struct stream *s)
{
	struct stream_connection *c;

	while ((c = TAILQ_FIRST(&s->all)) != NULL)
		stream_mark_closed(s, c);
	stream_free_closed(s);
	count_open(s);
	stream_sockets_close(s);
	(void)close(s->wake.fd);
	(void)close(s->epoll);
	stream_clients_free(s->clients);
	(void)pthread_barrier_destroy(&s->up);
	(void)pthread_barrier_destroy(&s->begin);
	free(s);
}

int
stream_start(struct stream **stream, const struct worker_handover *h,
    const struct generation *generation, struct audit *audit, unsigned int slot)
{
	struct stream *s;
	int error;

	*stream = NULL;
	error = stream_new(&s, h, generation, audit, slot);
	if (error == 0) {
		s->files_max = raise_files();
		check_files(s);
		error = -pthread_create(&s->thread, NULL, run, s);
	}
	/* On failure the process ends, and all of this with it. */
	if (error == 0) {
		(void)pthread_barrier_wait(&s->up);
		*stream = s;
	}
	return error;
}

void
stream_begin(struct stream *s)
{
	if (s != NULL)
		(void)pthread_barrier_wait(&s->begin);
}

void
stream_swap(struct stream *s, const struct generation *next)
{
	const struct generation *old;

	if (s == NULL)
		return;
	old = atomic_exchange(&s->current, next);
	generation_wait(&s->in_use, old);
	/* An idle thread has answered nothing, but would from this. */
	atomic_store_explicit(&s->slot->table_generation, next->number,
	    memory_order_relaxed);
}

void
stream_take_sockets(struct stream *s, int channel)
{
	if (s != NULL)
		stream_sockets_give(s, channel);
	else if (channel >= 0)
		(void)close(channel);
}

void
stream_stop(struct stream *s)
{
	if (s == NULL)
		return;
	atomic_store(&s->stopping, true);
	stream_wake(s);
	(void)pthread_join(s->thread, NULL);
	stream_free(s);
}
