/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/stream.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/stream/parts.h"
#include "policy/log.h"
#include "resolver/dns/message.h"

/* The nameserver's address, which is what the accepted socket has. */
static bool
read_name(int fd, const union sockets_address *peer, union sockets_address *name)
{
	socklen_t size = sizeof(*name);
	uint8_t octets[16];
	uint16_t port;

	if (getsockname(fd, &name->any, &size) < 0)
		return false;
	(void)sockets_address_split(name, octets, &port);
	/* Another port: not intercepted, somebody asked for the listener. */
	if (port != DNS_PORT)
		return false;
	if (name->any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&name->v6.sin6_addr))
		name->v6.sin6_scope_id = peer->v6.sin6_scope_id;
	return true;
}

/* No descriptors: the listeners wait until the next tick. */
static void
pause_accepting(struct stream *s)
{
	if (stream_evict(s))
		return;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], 0);
	s->paused = true;
}

/* Accepts again, after a pause because there were no descriptors. */
static void
stream_accept_again(struct stream *s)
{
	if (!s->paused)
		return;
	s->paused = false;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		if (s->listeners[i].fd >= 0)
			stream_watch(s, &s->listeners[i], EPOLLIN);
}

/* Accepts the next connection at a listener.  False: none waits. */
static bool
stream_accept(struct stream *s, struct stream_end *listener,
    struct stream_arrival *arrival)
{
	union sockets_address *peer = &arrival->peer;
	socklen_t size = sizeof(*peer);
	int fd;

	memset(arrival, 0, sizeof(*arrival));
	fd = accept4(listener->fd, &peer->any, &size,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			pause_accepting(s);
		return false;
	}
	arrival->fd = fd;
	if (!read_name(fd, peer, &arrival->name)) {
		(void)close(fd);
		arrival->fd = -1;
	}
	return true;
}

#define TICK_MS		250
#define ACCEPTS		64	/* a round, of each listener */
#define SPARE_FILES	128	/* besides two for each connection */

static void
count_open(struct stream *s)
{
	atomic_store_explicit(&s->thread.slot->stream[STREAM_OPEN], s->count,
	    memory_order_relaxed);
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

/*
 * Not those that come while these are handled: other things have their turn between.
 * Of a connection that ends all are forgotten.
 */
static void
end_answered(struct stream *s)
{
	const struct stream_asked *following;
	struct stream_connection *c;
	struct stream_asked *q;
	enum stream_next next;

	for (unsigned int n = s->answered_count; n > 0 &&
	    (q = TAILQ_FIRST(&s->answered)) != NULL; n--) {
		c = q->connection;
		next = stream_ask_end(s, q);
		following = TAILQ_FIRST(&s->answered);
		if (next == STREAM_GO_ON && n > 1 && following != NULL &&
		    following->connection == c)
			continue;	/* they are sent together */
		if (next == STREAM_GO_ON)
			next = stream_flush(s, c);
		stream_touch(s, c);
		finish(s, c, next);
	}
}

static void
handle(struct stream *s, struct stream_end *end, uint32_t events)
{
	struct stream_connection *c = end->connection;

	switch (end->role) {
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

	if (monotime_ms_since(s->thread.now, s->ticked) < TICK_MS)
		return;
	s->ticked = s->thread.now;
	for (c = TAILQ_FIRST(&s->all); c != NULL; c = next) {
		next = TAILQ_NEXT(c, in_all);
		step = stream_client_tick(s, c);
		if (step == STREAM_GO_ON)
			step = stream_relay_tick(s, c);
		finish(s, c, step);
		if (next != NULL && next->closed)
			break;	/* c took its place; the others next time */
	}
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
 * Limits that a reload has changed hold for all connections from here on.
 *  Those above a lower limit are closed if they are idle; the others end by
 * themselves.
 */
static void
take_limits(struct stream *s)
{
	const struct stream_settings *limits =
	    &s->thread.generation->settings.stream;
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

/* After a reload the cache may hold what upstreams say that are no longer asked. */
static struct cache *
cache_of(const struct generation *generation)
{
	return generation->cache != NULL &&
	    cache_generation(generation->cache) == generation->number ?
	    generation->cache : NULL;
}

void
stream_round(struct stream *s, const struct epoll_event *events, int count,
    monotime_t now)
{
	answering_begin(&s->thread, now);
	take_limits(s);
	if (s->forwarder != NULL) {
		forwarder_begin(s->forwarder, cache_of(s->thread.generation));
		forwarder_take(s->forwarder, s->replies, s->reply_count);
		forwarder_expect(s->forwarder,
		    engine_stats(s->forwarder->engine)->held);
	}
	for (int i = 0; i < count; i++)
		handle(s, events[i].data.ptr, events[i].events);
	end_answered(s);
	tick(s);
	stream_free_closed(s);
	count_open(s);
	if (s->forwarder != NULL)
		forwarder_end(s->forwarder, engine_stats(s->forwarder->engine)->held);
	answering_end(&s->thread);
}

static monotime_t
next_tick(const struct stream *s)
{
	if (!TAILQ_EMPTY(&s->answered))
		return s->forwarder->boot;
	return s->count > 0 || s->paused ?
	    monotime_add_ms(monotime_boot(), TICK_MS) : MONOTIME_NEVER;
}

static void
stream_run(struct answering_thread *thread)
{
	struct stream *s = (struct stream *)thread;
	struct epoll_event events[STREAM_EVENTS];

	while (!answering_is_stopping(thread)) {
		int n;

		s->reply_count = forwarder_wait(s->forwarder, s->replies,
		    next_tick(s));
		n = epoll_wait(s->epoll, events, STREAM_EVENTS, 0);

		if (n < 0 && errno != EINTR) {
			log_error("TCP: cannot wait for connections: %s",
			    strerror(errno));
			_exit(WORKER_FAILED);
		}
		stream_round(s, events, n > 0 ? n : 0, monotime_now());
		/* Packets of the queue, should its threads share our CPU. */
		(void)sched_yield();
	}
}

static void
ask(struct stream *s, struct stream_asked *q)
{
	forwarder_ask(s->forwarder, &q->client);
}

static int
begin_asking(struct stream *s)
{
	const struct forwarder_options options = {
		.thread = &s->thread, .fd = s->epoll,
		.most = s->thread.threads->current->settings.forward.limits.held,
		.mark_relay = s->options->mark_relay,
		.clients = &stream_ask_clients, .arg = s,
	};

	return forwarder_new(&s->forwarder, &options);
}

int
stream_new(struct stream **stream, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	struct stream *s = calloc(1, sizeof(*s));

	*stream = s;
	if (s == NULL)
		return -ENOMEM;
	TAILQ_INIT(&s->all);
	TAILQ_INIT(&s->raws);
	TAILQ_INIT(&s->dead);
	TAILQ_INIT(&s->asked);
	TAILQ_INIT(&s->answered);
	s->ask = ask;
	s->options = &h->options;
	s->open = sockets_open;
	answering_thread_init(&s->thread, threads, number);
	s->thread.slot->is_stream = 1;
	s->limits = atomic_load(&threads->current)->settings.stream;
	s->files_max = UINT64_MAX;
	s->senders = h->senders;
	count_open(s);
	s->clients = stream_clients_new(s->limits.connections + 1);
	if (s->clients == NULL)
		return -ENOMEM;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	for (size_t i = 0; i < STREAM_LISTENERS; i++) {
		const int fd = h->listeners[i];

		s->listeners[i] = (struct stream_end){ ROLE_LISTENER, fd, 0,
			NULL };
		if (fd < 0)
			continue;
		stream_watch(s, &s->listeners[i], EPOLLIN);
	}
	return 0;
}

void
stream_free(struct stream *s)
{
	struct stream_asked *q;
	struct stream_connection *c;

	while ((c = TAILQ_FIRST(&s->all)) != NULL)
		stream_mark_closed(s, c);
	stream_free_closed(s);
	forwarder_free(s->forwarder);
	while ((q = TAILQ_FIRST(&s->asked)) != NULL)
		stream_ask_free(s, q);
	count_open(s);
	(void)close(s->epoll);
	stream_clients_free(s->clients);
	free(s);
}

static void
free_thread(struct answering_thread *thread)
{
	stream_free((struct stream *)thread);
}

static const struct answering_kind stream_kind = {
	.run = stream_run,
	.free = free_thread,
};

int
stream_start(struct stream **stream, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	struct stream *s;
	int error;

	*stream = NULL;
	error = stream_new(&s, threads, h, number);
	if (error == 0) {
		s->files_max = child_raise_files();
		check_files(s);
		error = begin_asking(s);
	}
	if (error == 0)
		error = answering_thread_start(&s->thread, &stream_kind);
	/* On failure the process ends, and all of this with it. */
	if (error == 0)
		*stream = s;
	return error;
}
