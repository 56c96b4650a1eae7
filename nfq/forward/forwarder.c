/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/forwarder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"
#include "policy/log.h"
#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

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
	struct forwarder *a = arg;

	if (transport != FORWARD_UDP)
		return tcp_upstreams_send(a->tcp, a->boot, attempt, to, octets,
		    length);
	return ports_send(&a->ports, a->boot, attempt, to, octets, length);
}

static void
host_close(void *arg, uint32_t attempt)
{
	struct forwarder *a = arg;

	if (!tcp_upstreams_forget(a->tcp, a->boot, attempt))
		ports_forget(&a->ports, attempt);
}

void
forwarder_random(struct forwarder *a, void *octets, size_t length)
{
	uint8_t *to = octets;

	while (length > 0) {
		const size_t take = length < a->random_left ? length :
		    a->random_left;

		if (a->random_left == 0) {
			if (getrandom(a->random, sizeof(a->random), 0) !=
			    (ssize_t)sizeof(a->random))
				abort();
			a->random_left = sizeof(a->random);
			continue;
		}
		a->random_left -= take;
		memcpy(to, a->random + a->random_left, take);
		explicit_bzero(a->random + a->random_left, take);
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
wake_keeper(const struct forwarder *a)
{
	const int keeper = atomic_load(&a->options.thread->threads->keeper);
	const uint64_t one = 1;

	if (keeper >= 0)
		(void)!write(keeper, &one, sizeof(one));
}

static void
host_probe(void *arg)
{
	wake_keeper(arg);
}

static void
record(struct forwarder *a, const struct held *h, const uint8_t *answer,
    size_t length)
{
	held_packet_record(&h->held, a->options.thread, a->options.queue_number,
	    answer, length);
}

/* Only the question, and TC: the answer is longer than a packet can be here. */
static size_t
cut_answer(const struct held *h, uint8_t *answer)
{
	const size_t length = DNS_HEADER + h->client.question.wire_length;

	memcpy(answer + DNS_HEADER, h->client.question.wire,
	    h->client.question.wire_length);
	answer[2] |= DNS_FLAG_TC >> 8;
	memset(answer + 6, 0, 6);
	return length;
}

static void
give_back(struct forwarder *a, struct held *h)
{
	waiting_end(&a->options.thread->threads->waiting, h->held.uid);
	held_give(&a->held, h);
}

/* The CNAMEs of the table at the head of an answer were judged with the question. */
static unsigned int
known_records(const struct held *h)
{
	return h->client.chase != NULL ? wire_load_u16(h->chain + 6) : 0;
}

static void
turn_round(struct forwarder *a, const struct held *h, size_t length)
{
	queue_reply(a->options.queue->reader, h->held.id, (h->held.mark &
	    ~a->options.mark_mask) | a->options.mark_answered, a->reply, length);
}

/* A rule denies a name of the answer: the client gets what the rule says. */
static void
deny(struct forwarder *a, struct held *h)
{
	const struct interception *i = &a->judged;

	if (i->reply_length > 0)
		turn_round(a, h, i->reply_length);
	else
		queue_drop(a->options.queue->reader, h->held.id);
	answering_count_rcode(a->options.thread, i->decision.rcode);
	record(a, h, i->answer, i->answer_length);
	give_back(a, h);
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct forwarder *a = arg;
	struct held *h = held_of(client);
	const uint8_t rcode = octets[3] & DNS_RCODE_MASK;
	uint8_t *answer;
	size_t room;

	if (client->stream) {
		a->options.streams->answer(a->options.arg, client, octets,
		    length);
		return;
	}
	if (held_packet_deny(&h->held, a->options.thread, &a->judged,
	    &(struct policy_answer){ octets, length, known_records(h) },
	    a->reply)) {
		deny(a, h);
		return;
	}
	answer = a->reply + packet_reply_offset(&h->held.packet);
	room = sizeof(a->reply) - packet_reply_offset(&h->held.packet);
	memcpy(answer, octets, length < room ? length : room);
	if (length > room)
		length = cut_answer(h, answer);
	turn_round(a, h, packet_reply(&h->held.packet, a->reply, length));
	answering_count_rcode(a->options.thread, rcode);
	answering_count_spent(a->options.thread, a->boot.ns - client->since.ns,
	    1);
	h->held.decision.rcode = rcode;
	h->held.decision.verdict = decide_verdict_of(answer, length);
	record(a, h, answer, length);
	give_back(a, h);
}

static void
host_pass(void *arg, struct engine_client *client)
{
	struct forwarder *a = arg;
	struct held *h = held_of(client);

	if (client->stream) {
		a->options.streams->end(a->options.arg, client, !a->ending);
		return;
	}
	if (!a->ending) {
		queue_release_one(a->options.queue->reader, h->held.id);
		h->held.decision.verdict = VERDICT_PASS;
		record(a, h, NULL, 0);
	}
	give_back(a, h);
}

static void
host_drop(void *arg, struct engine_client *client)
{
	struct forwarder *a = arg;
	struct held *h = held_of(client);

	if (client->stream) {
		a->options.streams->end(a->options.arg, client, false);
		return;
	}
	queue_drop(a->options.queue->reader, h->held.id);
	give_back(a, h);
}

/* New questions */

/* The end of the chain is asked of the nameserver that the client asks. */
static struct forward_upstream
nameserver_of(const struct packet *packet, const struct queue_packet *p)
{
	struct forward_upstream to = {
		.family = packet->family,
		.port = packet->destination_port,
		.transport = FORWARD_AUTO,
	};

	memcpy(to.address, packet->destination,
	    packet->family == AF_INET ? 4 : 16);
	if (packet->family == AF_INET6 && packet->destination[0] == 0xfe &&
	    (packet->destination[1] & 0xc0) == 0x80)
		to.scope = p->device;
	return to;
}

static bool
set_chase(struct forwarder *a, struct interception *i, struct held *h)
{
	const struct answer_source source =
	    generation_source(a->options.thread->generation);

	if (!intercept_chain(i, &source, h->chain, sizeof(h->chain)))
		return false;
	h->chase = (struct chase){
		.chain = h->chain,
		.length = i->answer_length,
		.target = i->summary.target,
		.opt = chase_opt(i->question.edns.present, i->summary.options),
	};
	h->client.chase = &h->chase;
	return true;
}

bool
forwarder_hold(struct forwarder *a, const struct queue_packet *p,
    struct interception *i)
{
	struct held *h = a->held.count < a->options.most ?
	    held_take(&a->held, p->length) : NULL;

	if (h == NULL)
		return false;
	held_packet_keep(&h->held, p, i, a->options.thread->received_ns,
	    h->octets);
	h->client = (struct engine_client){
		.message = h->held.packet.payload,
		.length = h->held.packet.payload_length,
		.uid = p->uid,
		.nameserver = nameserver_of(&i->packet, p),
	};
	if (i->decision.reason == REASON_CHASE && !set_chase(a, i, h)) {
		held_give(&a->held, h);
		return false;
	}
	turns_add(&a->turns, h);
	return true;
}

void
forwarder_ask(struct forwarder *a, unsigned int most)
{
	struct held *h;

	ports_keep(&a->ports, a->held.count >= MANY_HELD);
	for (; most > 0 && (h = turns_take(&a->turns)) != NULL; most--) {
		/* Those before it may have taken a while: it is a time of travel. */
		a->boot = monotime_boot();
		engine_ask(a->engine, a->boot, &h->client);
	}
	tcp_upstreams_flush(a->tcp);
}

/* Replies, and what is due */

static void
take_replies(struct forwarder *a, struct port *port)
{
	const uint32_t attempt = port->attempt;
	const uint8_t *octets;
	ssize_t n = 0;

	for (unsigned int i = 0; i < REPLIES && n >= 0 &&
	    port->attempt == attempt; i++) {
		n = ports_receive(&a->ports, port, &octets);
		if (n >= 0)
			engine_reply(a->engine, a->boot, attempt, octets,
			    (size_t)n);
		else if (n != -EAGAIN && n != -EINTR)
			engine_error(a->engine, a->boot, attempt, (int)-n);
	}
}

static void
take_tcp(struct forwarder *a)
{
	struct stream_reply reply;

	tcp_upstreams_wait(a->tcp);
	while (tcp_upstreams_receive(a->tcp, a->boot, &reply))
		engine_reply(a->engine, a->boot, reply.attempt, reply.octets,
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
take_failures(struct forwarder *a)
{
	struct stream_reply reply;

	while (tcp_upstreams_failed(a->tcp, &reply)) {
		if (is_own_fault(reply.error))
			engine_unsent(a->engine, a->boot, reply.attempt,
			    -reply.error);
		else
			engine_error(a->engine, a->boot, reply.attempt,
			    -reply.error);
	}
}

static struct port *
port_of(struct forwarder *a, const struct epoll_event *event)
{
	struct port *port = event->data.ptr;

	return port >= a->ports.ports && port < a->ports.ports + a->ports.used ?
	    port : NULL;
}

void
forwarder_take(struct forwarder *a, const struct epoll_event *events, int count)
{
	struct port *port;

	for (int i = 0; i < count; i++)
		if ((port = port_of(a, &events[i])) != NULL)
			ports_close_straggler(&a->ports, port);
	if (count < FORWARDER_EVENTS)
		ports_are_empty(&a->ports);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &a->tcp)
			take_tcp(a);
		else if ((port = port_of(a, &events[i])) != NULL &&
		    port->attempt != PORTS_NOBODY)
			take_replies(a, port);
		else
			continue;
		answering_go_on(a->options.thread);
	}
	if (monotime_is_due(a->boot, engine_next(a->engine)))
		engine_tick(a->engine, a->boot);
	if (monotime_is_due(a->boot, tcp_upstreams_next(a->tcp)))
		tcp_upstreams_tick(a->tcp, a->boot);
	take_failures(a);
}

static monotime_t
next_due(const struct forwarder *a)
{
	return monotime_first(engine_next(a->engine),
	    tcp_upstreams_next(a->tcp));
}

bool
forwarder_is_idle(const struct forwarder *a)
{
	return a->held.count == 0 && !monotime_is_set(next_due(a));
}

int
forwarder_wait(struct forwarder *a, struct epoll_event events[static FORWARDER_EVENTS],
    monotime_t until)
{
	const monotime_t next = monotime_first(next_due(a), until);
	int timeout = -1, n;

	if (!turns_are_over(&a->turns))
		timeout = 0;
	else if (monotime_is_set(next))
		timeout = monotime_poll_timeout(monotime_boot(), next);
	n = epoll_wait(a->epoll, events, FORWARDER_EVENTS, timeout);
	if (n < 0 && errno != EINTR) {
		log_error("forwarding: cannot wait for replies: %s",
		    strerror(errno));
		_exit(WORKER_FAILED);
	}
	return n > 0 ? n : 0;
}

/* Settings */

static void
note_settings(struct forwarder *a, const struct generation *generation)
{
	tcp_upstreams_set_idle(a->tcp, generation->settings.forward.tls.idle_s);
	a->generation = generation->number;
}

static void
take_tls(struct forwarder *a)
{
	const int fresh = atomic_exchange(&a->options.thread->tls, -1);

	if (fresh < 0)
		return;
	tcp_upstreams_use_tls(a->tcp, a->boot, fresh);
	tcp_upstreams_begin(a->tcp, a->boot);
}

void
forwarder_begin(struct forwarder *a, struct cache *cache)
{
	const struct generation *generation = a->options.thread->generation;

	a->boot = monotime_boot();
	if (a->generation != generation->number) {
		engine_reload(a->engine, a->boot, &generation->settings.forward,
		    cache);
		note_settings(a, generation);
	}
	engine_use_cache(a->engine, cache, generation->number);
	take_tls(a);
}

/* The thread that keeps asks for it. */
static void
want_tls(struct forwarder *a)
{
	struct answering_threads *threads = a->options.thread->threads;

	if (a->options.keeps ||
	    !tcp_upstreams_want_tls(a->tcp, a->boot, false))
		return;
	atomic_store(&threads->wants_tls, true);
	wake_keeper(a);
}

void
forwarder_end(struct forwarder *a)
{
	const struct engine_stats *s = engine_stats(a->engine);
	const struct tcp_stats *tcp = tcp_upstreams_stats(a->tcp, false);
	const struct tcp_stats *tls = tcp_upstreams_stats(a->tcp, true);
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
		[FORWARD_EXPRESS] = a->options.keeps ? 0 : s->answered,
	};

	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		atomic_store_explicit(&a->options.thread->slot->forward[i],
		    i == FORWARD_HELD ? a->held.count :
		    a->before[i] + values[i], memory_order_relaxed);
	tcp_upstreams_flush(a->tcp);
	want_tls(a);
	if (forwarder_is_idle(a))
		ports_rest(&a->ports);
	ports_age(&a->ports, a->boot);
}

/* Begin and end */

static const struct engine_host host = {
	.send = host_send, .close = host_close, .answer = host_answer,
	.pass = host_pass, .drop = host_drop, .random = host_random,
	.wall = host_wall, .probe = host_probe,
};

static int
open_events(struct forwarder *a)
{
	struct epoll_event queue = { .events = EPOLLIN };
	struct epoll_event tcp = { .events = EPOLLIN, .data.ptr = &a->tcp };
	uint64_t seed;

	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->epoll < 0)
		return -errno;
	forwarder_random(a, &seed, sizeof(seed));
	a->tcp = tcp_upstreams_new(a->options.mark_relay, seed);
	if (a->tcp == NULL)
		return -ENOMEM;
	if (epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->options.queue_fd,
	    &queue) < 0 || epoll_ctl(a->epoll, EPOLL_CTL_ADD,
	    tcp_upstreams_fd(a->tcp), &tcp) < 0)
		return -errno;
	return 0;
}

static int
init(struct forwarder *a)
{
	struct answering_threads *threads = a->options.thread->threads;
	const struct generation *generation = atomic_load(&threads->current);
	const struct forward_settings *settings = &generation->settings.forward;
	struct engine_host own = host;
	uint64_t seed;
	int error = open_events(a);

	if (error == 0)
		error = held_open(&a->held, a->options.most);
	if (error < 0)
		return error;
	forwarder_random(a, &seed, sizeof(seed));
	turns_init(&a->turns, seed);
	error = ports_init(&a->ports, a->epoll, a->options.mark_relay,
	    PORTS_EACH * a->options.most + PORTS_OWN);
	if (error < 0)
		return error;
	own.arg = a;
	if (a->options.keeps)
		own.probe = NULL;
	a->engine = engine_new(&own, settings, NULL, threads->upstreams,
	    monotime_boot());
	if (a->engine == NULL)
		return -ENOMEM;
	if (!a->options.keeps)
		engine_count_in(a->engine, a->options.thread->slot->domains);
	note_settings(a, generation);
	return 0;
}

int
forwarder_new(struct forwarder **forwarder, const struct forwarder_options *options)
{
	struct forwarder *a = calloc(1, sizeof(*a));
	int error;

	*forwarder = NULL;
	if (a == NULL)
		return -ENOMEM;
	a->options = *options;
	a->epoll = -1;
	for (size_t i = 0; i < FORWARD_COUNTERS; i++)
		a->before[i] = atomic_load(&options->thread->slot->forward[i]);
	error = init(a);
	if (error < 0)
		forwarder_free(a);
	else
		*forwarder = a;
	return error;
}

void
forwarder_free(struct forwarder *a)
{
	if (a == NULL)
		return;
	a->ending = true;
	engine_free(a->engine);
	ports_free(&a->ports);
	tcp_upstreams_free(a->tcp);
	held_close(&a->held);
	if (a->epoll >= 0)
		(void)close(a->epoll);
	free(a);
}
