/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine wants sent, answered, passed. */
#include "nfq/forward/thread_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

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

	if (transport != FORWARD_UDP)
		return tcp_upstreams_send(f->tcp, f->boot, attempt, to, octets,
		    length);
	return upstream_sockets_send(&f->sockets, attempt, to, octets, length);
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

	if (i->reply_length > 0)
		queue_reply(f->queue.reader, h->held.id, (h->held.mark &
		    ~f->mark_mask) | f->mark_answered, f->reply,
		    i->reply_length);
	else
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
	queue_reply(f->queue.reader, h->held.id,
	    (h->held.mark & ~f->mark_mask) | f->mark_answered, f->reply, whole);
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
	if (!f->ending) {
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
	queue_drop(f->queue.reader, h->held.id);
	give_back(f, h);
}

const struct engine_host forward_host = {
	.send = host_send, .close = host_close, .answer = host_answer,
	.pass = host_pass, .drop = host_drop, .random = host_random,
	.wall = host_wall,
};
