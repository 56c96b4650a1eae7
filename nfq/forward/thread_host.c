/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine wants sent, answered, passed. */
#include "nfq/forward/thread_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "nfq/held/rescue.h"
#include "policy/log.h"
#include "nfq/queue/queue.h"
#include "resolver/dns/message.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define FLAG_TC		0x0200

static int
host_send(void *arg, uint32_t attempt, const struct forward_upstream *to,
    enum forward_transport transport, const uint8_t *octets, size_t length)
{
	struct forward_thread *f = arg;
	const struct window_source source = window_source_of(to->family,
	    to->port, to->address);

	if (suspects_has(f->sources, window_source_key(&source),
	    monotime_to_ms(f->thread.now)))
		return -EHOSTDOWN;	/* its replies have ended workers */
	if (transport != FORWARD_UDP)
		return tcp_upstreams_send(f->tcp, f->boot, attempt,
		    &f->asking, to, octets, length);
	return upstream_sockets_send(&f->sockets, attempt, &f->asking, to,
	    octets, length);
}

static void
host_close(void *arg, uint32_t attempt)
{
	struct forward_thread *f = arg;

	if (!tcp_upstreams_forget(f->tcp, f->boot, attempt))
		upstream_sockets_forget(&f->sockets, attempt);
}

void
forward_random(struct forward_thread *f, void *octets, size_t length)
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
	forward_random(arg, octets, length);
}

static uint32_t
host_wall(void *arg)
{
	(void)arg;
	return (uint32_t)realtime_s();
}

static void
record(struct forward_thread *f, const struct held *h, const uint8_t *answer,
    size_t length)
{
	held_packet_record(&h->held, &f->thread, 0, answer, length);
}

/* Only the question, and TC: the answer is longer than a packet can be here. */
static size_t
cut_answer(const struct held *h, uint8_t *answer)
{
	const size_t length = DNS_HEADER + h->client.question.wire_length;

	memcpy(answer + DNS_HEADER, h->client.question.wire,
	    h->client.question.wire_length);
	answer[2] |= FLAG_TC >> 8;
	memset(answer + 6, 0, 6);
	return length;
}

static void
give_back(struct forward_thread *f, struct held *h)
{
	waiting_end(f->waiting, h->held.uid);
	held_give(&f->held, h);
}

/* A link-local address needs its interface: RFC 4007 section 6. */
static bool
needs_scope(const struct packet *packet)
{
	return packet->family == AF_INET6 && packet->source[0] == 0xfe &&
	    (packet->source[1] & 0xc0) == 0x80;
}

void
forward_send_lost(struct forward_thread *f, const struct packet *question,
    uint32_t device, size_t length)
{
	if (rescue_send(f->raw, f->reply, length,
	    needs_scope(question) ? device : 0) == 0)
		f->rescued++;
}

static void
keep_scope(struct forward_thread *f, const struct held *h)
{
	if (needs_scope(&h->held.packet))
		f->scopes[f->scope_next++ % THREAD_SCOPES] =
		    (struct answer_scope){ h->held.id, h->held.device };
}

/* Questions whose clients may have given up before the answer is there. */



/*
 * The shortest time-out of a C library's resolver: resolv.conf(5) has whole seconds,
 * 1 at least, and 5 unless it says otherwise.  An answer before that costs nothing.
 */
#define LATE_MS		1000

/* lo has this number in each network namespace: drivers/net/loopback.c. */
#define LOOPBACK	1

void
thread_late_init(struct forward_thread *f, int known_socket)
{
	const int error = client_sockets_open(&f->clients, known_socket,
	    monotime_boot());

	if (error < 0)
		log_info("forwarding: the kernel does not say which clients still "
		    "wait: %s: a nameserver gets an ICMP error for each late "
		    "answer whose client is gone", error == -ENOENT ?
		    "it has no module udp_diag (modprobe udp_diag)" :
		    strerror(-error));
}

/*
 * By lo go the packets to this machine's own addresses.  Their sockets may be bound to
 * another device, which is not known here, and errors do not leave the machine.
 */
static bool
is_late(const struct forward_thread *f, const struct held *h)
{
	return monotime_ms_since(f->boot, h->client.since) >= LATE_MS &&
	    h->held.device > LOOPBACK;
}

static bool
is_abandoned(struct forward_thread *f, const struct held *h)
{
	struct client_socket socket;
	monotime_t begun;
	bool gone;

	if (!is_late(f, h) || !client_sockets_may_ask(&f->clients, f->boot))
		return false;
	socket = client_socket_of(&h->held.packet, h->held.device);
	begun = monotime_now();
	gone = client_sockets_is_gone(&f->clients, &socket, f->boot);
	client_sockets_spend(&f->clients, monotime_now().ns - begun.ns);
	return gone;
}

/* Nobody would get the answer, and the nameserver an ICMP error for it. */
static void
abandon(struct forward_thread *f, struct held *h)
{
	if (!h->lost)
		queue_drop(f->queue.reader, h->held.id);
	f->abandoned++;
	h->held.decision.verdict = VERDICT_DROP;
	record(f, h, NULL, 0);
	give_back(f, h);
}

/* The CNAMEs of the table at the head of an answer were judged with the question. */
static unsigned int
known_records(const struct held *h)
{
	return h->client.chase != NULL ? wire_load_u16(h->chain + 6) : 0;
}

/* A rule denies a name of the answer: the client gets what the rule says. */
static void
deny(struct forward_thread *f, struct held *h)
{
	const struct interception *i = &f->interception;

	if (h->lost && i->reply_length > 0)
		forward_send_lost(f, &h->held.packet, h->held.device,
		    i->reply_length);
	else if (!h->lost && i->reply_length > 0) {
		keep_scope(f, h);
		queue_reply(f->queue.reader, h->held.id, (h->held.mark &
		    ~f->mark_mask) | f->mark_answered, f->reply,
		    i->reply_length);
	} else if (!h->lost)
		queue_drop(f->queue.reader, h->held.id);
	answering_count_rcode(&f->thread, i->decision.rcode);
	record(f, h, i->answer, i->answer_length);
	give_back(f, h);
}

static void
host_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct forward_thread *f = arg;
	struct held *h = held_of(client);
	uint8_t rcode = octets[3] & DNS_RCODE_MASK;
	uint8_t *answer;
	size_t room, whole;

	if (client->stream) {
		thread_errand_answer(f, client, octets, length);
		return;
	}
	if (is_abandoned(f, h)) {
		abandon(f, h);
		return;
	}
	if (held_packet_deny(&h->held, &f->thread, &f->interception,
	    &(struct policy_answer){ octets, length, known_records(h) },
	    f->reply)) {
		deny(f, h);
		return;
	}
	answer = f->reply + packet_reply_offset(&h->held.packet);
	room = sizeof(f->reply) - packet_reply_offset(&h->held.packet);
	memcpy(answer, octets, length < room ? length : room);
	if (length > room)
		length = cut_answer(h, answer);
	whole = packet_reply(&h->held.packet, f->reply, length);
	if (h->lost) {
		forward_send_lost(f, &h->held.packet, h->held.device, whole);
	} else {
		keep_scope(f, h);
		queue_reply(f->queue.reader, h->held.id, (h->held.mark & ~f->mark_mask) |
		    f->mark_answered, f->reply, whole);
	}
	answering_count_rcode(&f->thread, rcode);
	answering_count_spent(&f->thread, f->boot.ns - client->since.ns, 1);
	h->held.decision.rcode = rcode;
	h->held.decision.verdict = decide_verdict_of(answer, length);
	record(f, h, answer, length);
	give_back(f, h);
}

static void
host_pass(void *arg, struct engine_client *client)
{
	struct forward_thread *f = arg;
	struct held *h = held_of(client);

	if (client->stream) {
		thread_errand_end(f, client, true);
		return;
	}
	if (!f->ending && !h->lost) {
		queue_release_one(f->queue.reader, h->held.id);
		h->held.decision.verdict = VERDICT_PASS;
		record(f, h, NULL, 0);
	}
	give_back(f, h);
}

static void
host_drop(void *arg, struct engine_client *client)
{
	struct forward_thread *f = arg;
	struct held *h = held_of(client);

	if (client->stream) {
		thread_errand_end(f, client, false);
		return;
	}
	if (!h->lost)
		queue_drop(f->queue.reader, h->held.id);
	give_back(f, h);
}

const struct engine_host forward_host = {
	.send = host_send, .close = host_close, .answer = host_answer,
	.pass = host_pass, .drop = host_drop, .random = host_random,
	.wall = host_wall,
};

static uint32_t
scope_of(const struct forward_thread *f, uint32_t id)
{
	for (size_t n = 0; n < THREAD_SCOPES; n++)
		if (f->scopes[n].id == id)
			return f->scopes[n].device;
	return 0;
}

/* Sends the answers whose packets are gone. */
void
forward_rescue(struct forward_thread *f)
{
	const uint8_t *reply;
	size_t length;
	uint32_t id;

	while (queue_next_gone(f->queue.reader, &id)) {
		f->gone++;
		reply = queue_lost_reply(f->queue.reader, id, &length);
		if (reply != NULL && rescue_send(f->raw, reply, length,
		    scope_of(f, id)) == 0)
			f->rescued++;
	}
}
