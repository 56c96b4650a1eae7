/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream.h"

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

#include "nfq/stream_parts.h"
#include "policy/log.h"

#define EVENTS		64	/* a round */
#define TICK_MS		250
#define SPARE_FILES	128	/* besides two for each connection */

static int64_t
monotonic_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One writer a counter: no read-modify-write is needed. */
static void
set_counter(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

void
stream_count(struct stream *s, enum status_stream counter)
{
	_Atomic uint64_t *c = &s->slot->stream[counter];

	set_counter(c, atomic_load_explicit(c, memory_order_relaxed) + 1);
}

static void
count_open(struct stream *s)
{
	set_counter(&s->slot->stream[STREAM_OPEN], s->count);
}

void
stream_watch(struct stream *s, struct stream_end *end, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = end };
	int operation = events == 0 ? EPOLL_CTL_DEL :
	    end->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	if (events == end->events)
		return;
	/* An end without interest is not registered: a hang-up would spin. */
	if (epoll_ctl(s->epoll, operation, end->fd, &event) == 0)
		end->events = events;
}

/* At the list's end, where the newest activity is. */
static void
list_append(struct stream *s, struct stream_connection *c)
{
	c->next = NULL;
	c->prev = s->last;
	if (s->last != NULL)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
}

void
stream_add(struct stream *s, struct stream_connection *c)
{
	list_append(s, c);
	s->count++;
	stream_count(s, STREAM_ACCEPTED);
}

static void
list_remove(struct stream *s, struct stream_connection *c)
{
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		s->first = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		s->last = c->prev;
}

static void
close_end(struct stream *s, struct stream_end *end)
{
	if (end->fd < 0)
		return;
	stream_watch(s, end, 0);
	(void)close(end->fd);
	end->fd = -1;
}

void
stream_close(struct stream *s, struct stream_connection *c)
{
	if (c->closed)
		return;
	c->closed = true;
	stream_opener_forget(s, c);
	close_end(s, &c->client);
	close_end(s, &c->server);
	list_remove(s, c);
	(void)stream_clients_remove(s->clients, &c->address);
	s->count--;
	c->next = s->dead;
	s->dead = c;
}

/* Events of this round may have pointed to them until now. */
static void
bury(struct stream *s)
{
	while (s->dead != NULL) {
		struct stream_connection *c = s->dead;

		s->dead = c->next;
		stream_relay_free(c);
		stream_buffer_clear(&c->in);
		stream_buffer_clear(&c->out);
		free(c);
	}
}

size_t
stream_address_of(const union stream_name *name, uint8_t octets[static 16],
    uint16_t *port)
{
	if (name->any.sa_family == AF_INET) {
		memcpy(octets, &name->v4.sin_addr, 4);
		*port = ntohs(name->v4.sin_port);
		return 4;
	}
	memcpy(octets, &name->v6.sin6_addr, 16);
	*port = ntohs(name->v6.sin6_port);
	return 16;
}

void
stream_record(struct stream *s, const struct stream_connection *c,
    const struct stream_record *record)
{
	struct timespec now;
	struct audit_record r = {
		.generation = s->snapshot->generation,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
		.stream = true,
		.family = (uint8_t)c->peer.any.sa_family,
		.verdict = record->decision->verdict,
		.reason = record->decision->reason,
		.rcode = record->decision->rcode,
		.question_length = (uint16_t)record->question_length,
		.answer_length = (uint16_t)record->answer_length,
		.question = record->question,
		.answer = record->answer,
	};

	if (!audit_wants(s->audit, r.verdict))
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	r.time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (r.time_ns > record->received_ns)
		r.spent_ns = (uint32_t)(r.time_ns - record->received_ns);
	(void)stream_address_of(&c->peer, r.client, &r.client_port);
	(void)stream_address_of(&c->name, r.server, &r.server_port);
	(void)audit_put(s->audit, s->ring, &r);
	audit_wake(s->audit);
}

static void
handle(struct stream *s, struct stream_end *end, uint32_t events)
{
	struct stream_connection *c = end->connection;
	uint64_t wakes;

	switch (end->role) {
	case ROLE_WAKE:
		(void)!read(end->fd, &wakes, sizeof(wakes));
		stream_opener_take(s);
		break;
	case ROLE_OPENER:
		stream_opener_ready(s);
		break;
	case ROLE_LISTENER:
		stream_accept(s, end);
		break;
	case ROLE_CLIENT:
	case ROLE_SERVER:
		if (c->closed)
			break;
		/* The newest activity is at the list's end. */
		list_remove(s, c);
		list_append(s, c);
		if (end->role == ROLE_CLIENT)
			stream_client_ready(s, c, events);
		else
			stream_relay_ready(s, c, events);
		break;
	}
}

static void
tick(struct stream *s)
{
	struct stream_connection *c, *next;

	if (s->now_ms - s->tick_ms < TICK_MS)
		return;
	s->tick_ms = s->now_ms;
	for (c = s->first; c != NULL; c = next) {
		next = c->next;
		stream_client_tick(s, c);
		if (!c->closed)
			stream_relay_tick(s, c);
	}
	stream_opener_tick(s);
	if (!s->paused)
		return;
	s->paused = false;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], EPOLLIN);
}

static void
run_round(struct stream *s, const struct epoll_event *events, int count)
{
	struct status_worker *slot = s->slot;

	s->now_ms = monotonic_ms();
	atomic_store_explicit(&slot->busy, 1, memory_order_relaxed);
	s->snapshot = snapshot_get(&s->in_use, &s->current);
	atomic_store_explicit(&slot->table_generation, s->snapshot->generation,
	    memory_order_relaxed);
	for (int i = 0; i < count; i++)
		handle(s, events[i].data.ptr, events[i].events);
	tick(s);
	bury(s);
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
	struct epoll_event events[EVENTS];

	(void)pthread_barrier_wait(&s->up);
	(void)pthread_barrier_wait(&s->begin);
	while (!atomic_load(&s->stopping)) {
		int n = epoll_wait(s->epoll, events, EVENTS,
		    s->count > 0 || s->paused ? TICK_MS : -1);

		if (n < 0 && errno != EINTR) {
			log_error("TCP: cannot wait for connections: %s",
			    strerror(errno));
			_exit(WORKER_FAILED);
		}
		run_round(s, events, n > 0 ? n : 0);
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
	stream_opener_init(s, h);
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
stream_start(struct stream **stream, const struct worker_handover *h,
    const struct snapshot *snapshot, struct audit *audit, unsigned int slot)
{
	struct stream *s = calloc(1, sizeof(*s));
	int error;

	*stream = NULL;
	if (s == NULL)
		return -ENOMEM;
	s->config = h->config;
	s->slot = &h->status->workers[slot];
	s->audit = audit;
	s->ring = slot;
	atomic_store(&s->slot->busy, 0);
	atomic_store(&s->slot->table_generation, snapshot->generation);
	atomic_store(&s->current, snapshot);
	count_open(s);
	raise_files(&s->config->stream);
	error = init(s, h);
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
stream_wake(struct stream *s)
{
	const uint64_t one = 1;

	(void)!write(s->wake.fd, &one, sizeof(one));
}

void
stream_stop(struct stream *s)
{
	if (s == NULL)
		return;
	atomic_store(&s->stopping, true);
	stream_wake(s);
	(void)pthread_join(s->thread, NULL);
	while (s->first != NULL)
		stream_close(s, s->first);
	bury(s);
	count_open(s);
	stream_opener_close(s);
	(void)close(s->wake.fd);
	(void)close(s->epoll);
	stream_clients_free(s->clients);
	(void)pthread_barrier_destroy(&s->up);
	(void)pthread_barrier_destroy(&s->begin);
	free(s);
}
