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
#include <time.h>
#include <unistd.h>

#include "nfq/stream/parts.h"
#include "policy/log.h"

#define TICK_MS		250
#define ACCEPTS		64	/* a round, of each listener */
#define SPARE_FILES	128	/* besides two for each connection */

static int64_t
monotonic_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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

	if (s->now_ms - s->tick_ms < TICK_MS)
		return;
	s->tick_ms = s->now_ms;
	for (c = s->all.first; c != NULL; c = next) {
		next = c->links[STREAM_ALL].next;
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

void
stream_round(struct stream *s, const struct epoll_event *events, int count,
    int64_t now_ms)
{
	struct status_worker *slot = s->slot;

	s->now_ms = now_ms;
	atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
	s->snapshot = snapshot_get(&s->in_use, &s->current);
	atomic_store_explicit(&slot->table_generation, s->snapshot->generation,
	    memory_order_relaxed);
	for (int i = 0; i < count; i++)
		handle(s, events[i].data.ptr, events[i].events);
	tick(s);
	stream_bury(s);
	snapshot_put(&s->in_use);
	s->snapshot = NULL;
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
		stream_round(s, events, n > 0 ? n : 0, monotonic_ms());
		/* Packets of the queue, should its threads share our CPU. */
		(void)sched_yield();
	}
	return NULL;
}

/* Two descriptors for each connection, as far as we are allowed. */
static void
raise_files(const struct config_stream *limits)
{
	rlim_t wanted = 2 * (rlim_t)limits->connections + SPARE_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < wanted)
		log_warning("TCP: this process may open %llu files, %llu are "
		    "needed: lower stream.connections or raise LimitNOFILE",
		    (unsigned long long)limit.rlim_cur,
		    (unsigned long long)wanted);
}

/* 0 or a negative errno. */
static int
init(struct stream *s, const struct worker_handover *h)
{
	s->clients = stream_clients_new(s->config->stream.connections + 1);
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
    const struct snapshot *snapshot, struct audit *audit, unsigned int slot)
{
	struct stream *s = calloc(1, sizeof(*s));

	*stream = s;
	if (s == NULL)
		return -ENOMEM;
	s->config = h->config;
	s->slot = &h->status->workers[slot];
	s->senders = h->senders;
	s->audit = audit;
	s->ring = slot;
	atomic_store(&s->slot->busy, 0);
	atomic_store(&s->slot->table_generation, snapshot->generation);
	atomic_store(&s->current, snapshot);
	count_open(s);
	return init(s, h);
}

void
stream_free(struct stream *s)
{
	while (s->all.first != NULL)
		stream_mark_closed(s, s->all.first);
	stream_bury(s);
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
    const struct snapshot *snapshot, struct audit *audit, unsigned int slot)
{
	struct stream *s;
	int error;

	*stream = NULL;
	raise_files(&h->config->stream);
	error = stream_new(&s, h, snapshot, audit, slot);
	if (error == 0)
		error = -pthread_create(&s->thread, NULL, run, s);
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
stream_swap(struct stream *s, const struct snapshot *next)
{
	const struct snapshot *old;

	if (s == NULL)
		return;
	old = atomic_exchange(&s->current, next);
	snapshot_wait(&s->in_use, old);
	/* An idle thread has answered nothing, but would from this. */
	atomic_store_explicit(&s->slot->table_generation, next->generation,
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
