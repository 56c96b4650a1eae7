/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/upstream/forwarder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"
#include "policy/log.h"

#define REPLIES		16	/* from one port in one round, at most */
#define PORTS_EACH	4	/* of a question that nobody answers */
#define PORTS_OWN	512	/* of probes, and of answers that are late */
/*
 * With so many questions held a port serves several.  Few hosts come there but by a
 * flood; a page that is loaded asks for some ten names.
 */
#define MANY_HELD	32

/* What the engine wants sent, answered, passed. */

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	struct forwarder *f = arg;

	if (transport != FORWARD_UDP)
		return tcp_upstreams_send(f->tcp, f->boot, attempt, to, octets,
		    length);
	return ports_send(&f->ports, f->boot, attempt, to, octets, length);
}

static void
host_close(void *arg, uint32_t attempt)
{
	struct forwarder *f = arg;

	if (!tcp_upstreams_forget(f->tcp, f->boot, attempt))
		ports_forget(&f->ports, attempt);
}

void
forwarder_random(struct forwarder *f, void *octets, size_t length)
{
	uint8_t *to = octets;

	while (length > 0) {
		const size_t take = length < f->random_left ? length :
		    f->random_left;

		if (f->random_left == 0) {
			if (getrandom(f->random, sizeof(f->random), 0) !=
			    (ssize_t)sizeof(f->random))
				abort();
			f->random_left = sizeof(f->random);
			continue;
		}
		f->random_left -= take;
		memcpy(to, f->random + f->random_left, take);
		explicit_bzero(f->random + f->random_left, take);
		to += take;
		length -= take;
	}
}

static void
host_random(void *arg, void *octets, size_t length)
{
	forwarder_random(arg, octets, length);
}

static uint32_t
host_wall(void *arg)
{
	(void)arg;
	return (uint32_t)realtime_s();
}

static void
wake_main_thread(const struct forwarder *f)
{
	const int wake = atomic_load(&f->options.thread->threads->main_wake);
	const uint64_t one = 1;

	if (wake >= 0)
		(void)!write(wake, &one, sizeof(one));
}

static void
host_probe(void *arg)
{
	wake_main_thread(arg);
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	const struct forwarder *f = arg;

	f->options.clients->answer(f->options.arg, client, octets, length);
}

static void
host_pass(void *arg, struct engine_client *client)
{
	const struct forwarder *f = arg;

	f->options.clients->pass(f->options.arg, client);
}

static void
host_drop(void *arg, struct engine_client *client)
{
	const struct forwarder *f = arg;

	f->options.clients->drop(f->options.arg, client);
}

void
forwarder_expect(struct forwarder *f, uint32_t held)
{
	ports_keep(&f->ports, held >= MANY_HELD);
}

void
forwarder_ask(struct forwarder *f, struct engine_client *client)
{
	/* Those before it may have taken a while: it is a time of travel. */
	f->boot = monotime_boot();
	engine_ask(f->engine, f->boot, client);
}

/* Replies, and what is due */

static void
take_replies(struct forwarder *f, struct port *port)
{
	const uint32_t attempt = port->attempt;
	const uint8_t *octets;
	ssize_t n = 0;

	for (unsigned int i = 0; i < REPLIES && n >= 0 &&
	    port->attempt == attempt; i++) {
		n = ports_receive(&f->ports, port, &octets);
		if (n >= 0)
			engine_reply(f->engine, f->boot, attempt, octets,
			    (size_t)n);
		else if (n != -EAGAIN && n != -EINTR)
			engine_error(f->engine, f->boot, attempt, (int)-n);
	}
}

static void
take_tcp(struct forwarder *f)
{
	struct stream_reply reply;

	tcp_upstreams_wait(f->tcp);
	while (tcp_upstreams_receive(f->tcp, f->boot, &reply))
		engine_reply(f->engine, f->boot, reply.attempt, reply.octets,
		    reply.length);
}

/* No descriptor, no memory, no place for one more connection. */
static bool
is_own_fault(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM ||
	    error == -ENOBUFS;
}

static void
take_failures(struct forwarder *f)
{
	struct stream_reply reply;

	while (tcp_upstreams_failed(f->tcp, &reply)) {
		if (is_own_fault(reply.error))
			engine_unsent(f->engine, f->boot, reply.attempt,
			    -reply.error);
		else
			engine_error(f->engine, f->boot, reply.attempt,
			    -reply.error);
	}
}

static struct port *
port_of(struct forwarder *f, const struct epoll_event *event)
{
	struct port *port = event->data.ptr;

	return port >= f->ports.ports && port < f->ports.ports + f->ports.used ?
	    port : NULL;
}

void
forwarder_take(struct forwarder *f, const struct epoll_event *events, int count)
{
	struct port *port;

	for (int i = 0; i < count; i++)
		if ((port = port_of(f, &events[i])) != NULL)
			ports_close_straggler(&f->ports, port);
	if (count < FORWARDER_EVENTS)
		ports_are_empty(&f->ports);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &f->tcp)
			take_tcp(f);
		else if ((port = port_of(f, &events[i])) != NULL &&
		    port->attempt != PORTS_NOBODY)
			take_replies(f, port);
		else
			continue;
		answering_go_on(f->options.thread);
	}
	if (monotime_is_due(f->boot, engine_next(f->engine)))
		engine_tick(f->engine, f->boot);
	if (monotime_is_due(f->boot, tcp_upstreams_next(f->tcp)))
		tcp_upstreams_tick(f->tcp, f->boot);
	take_failures(f);
}

static monotime_t
next_due(const struct forwarder *f)
{
	return monotime_first(engine_next(f->engine),
	    tcp_upstreams_next(f->tcp));
}

bool
forwarder_is_idle(const struct forwarder *f)
{
	return !monotime_is_set(next_due(f));
}

int
forwarder_wait(struct forwarder *f, struct epoll_event events[static FORWARDER_EVENTS],
    monotime_t until)
{
	const monotime_t next = monotime_first(monotime_first(next_due(f),
	    ports_next(&f->ports)), until);
	int timeout = -1, n;

	if (monotime_is_set(next))
		timeout = monotime_poll_timeout(monotime_boot(), next);
	n = epoll_wait(f->epoll, events, FORWARDER_EVENTS, timeout);
	if (n < 0 && errno != EINTR) {
		log_error("forwarding: cannot wait for replies: %s",
		    strerror(errno));
		_exit(WORKER_FAILED);
	}
	return n > 0 ? n : 0;
}

/* Settings */

static void
take_tls(struct forwarder *f)
{
	const int fresh = atomic_exchange(&f->options.thread->tls, -1);

	if (fresh < 0)
		return;
	tcp_upstreams_use_tls(f->tcp, f->boot, fresh);
	tcp_upstreams_begin(f->tcp, f->boot);
}

void
forwarder_begin(struct forwarder *f, struct cache *cache)
{
	const struct generation *generation = f->options.thread->generation;

	f->boot = monotime_boot();
	if (f->generation != generation->number) {
		engine_reload(f->engine, f->boot, &generation->settings.forward,
		    cache);
		f->generation = generation->number;
	}
	engine_use_cache(f->engine, cache, generation->number);
	take_tls(f);
}

/* The thread that keeps asks for it. */
static void
want_tls(struct forwarder *f)
{
	struct answering_threads *threads = f->options.thread->threads;

	if (f->options.probes ||
	    !tcp_upstreams_want_tls(f->tcp, f->boot, false))
		return;
	atomic_store(&threads->wants_tls, true);
	wake_main_thread(f);
}

void
forwarder_end(struct forwarder *f, uint32_t held)
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
		atomic_store_explicit(&f->options.thread->slot->forward[i],
		    i == FORWARD_HELD ? held :
		    f->before[i] + values[i], memory_order_relaxed);
	tcp_upstreams_flush(f->tcp);
	want_tls(f);
	if (forwarder_is_idle(f))
		ports_rest(&f->ports);
	ports_age(&f->ports, f->boot);
}

/* Begin and end */

static const struct engine_host host = {
	.send = host_send, .close = host_close, .answer = host_answer,
	.pass = host_pass, .drop = host_drop, .random = host_random,
	.wall = host_wall, .probe = host_probe,
};

static int
open_events(struct forwarder *f)
{
	struct epoll_event other = { .events = EPOLLIN };
	struct epoll_event tcp = { .events = EPOLLIN, .data.ptr = &f->tcp };
	uint64_t seed;

	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll < 0)
		return -errno;
	forwarder_random(f, &seed, sizeof(seed));
	f->tcp = tcp_upstreams_new(f->options.mark_relay, seed);
	if (f->tcp == NULL)
		return -ENOMEM;
	if ((f->options.fd >= 0 && epoll_ctl(f->epoll, EPOLL_CTL_ADD,
	    f->options.fd, &other) < 0) || epoll_ctl(f->epoll, EPOLL_CTL_ADD,
	    tcp_upstreams_fd(f->tcp), &tcp) < 0)
		return -errno;
	return 0;
}

static int
init(struct forwarder *f)
{
	struct answering_threads *threads = f->options.thread->threads;
	const struct generation *generation = atomic_load(&threads->current);
	const struct forward_settings *settings = &generation->settings.forward;
	struct engine_host own = host;
	int error = open_events(f);

	if (error < 0)
		return error;
	error = ports_init(&f->ports, f->epoll, f->options.mark_relay,
	    PORTS_EACH * f->options.most + PORTS_OWN);
	if (error < 0)
		return error;
	own.arg = f;
	if (f->options.probes)
		own.probe = NULL;
	f->engine = engine_new(&own, settings, NULL, threads->upstreams,
	    monotime_boot());
	if (f->engine == NULL)
		return -ENOMEM;
	if (!f->options.probes)
		engine_count_in(f->engine, f->options.thread->slot->domains);
	f->generation = generation->number;
	return 0;
}

int
forwarder_new(struct forwarder **forwarder, const struct forwarder_options *options)
{
	struct forwarder *f = calloc(1, sizeof(*f));
	int error;

	*forwarder = NULL;
	if (f == NULL)
		return -ENOMEM;
	f->options = *options;
	f->epoll = -1;
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		f->before[i] = atomic_load(&options->thread->slot->forward[i]);
	atomic_store(&options->thread->slot->forward[FORWARD_HELD], 0);
	error = init(f);
	if (error < 0)
		forwarder_free(f);
	else
		*forwarder = f;
	return error;
}

void
forwarder_free(struct forwarder *f)
{
	if (f == NULL)
		return;
	engine_free(f->engine);
	ports_free(&f->ports);
	tcp_upstreams_free(f->tcp);
	if (f->epoll >= 0)
		(void)close(f->epoll);
	free(f);
}
