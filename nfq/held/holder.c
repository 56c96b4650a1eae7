/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/holder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "resolver/dns/message.h"
#include "resolver/dns/wire.h"

static void
record(struct holder *t, const struct held *h, const uint8_t *answer,
    size_t length)
{
	held_packet_record(&h->held, t->options.thread, t->options.queue_number,
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
give_back(struct holder *t, struct held *h)
{
	users_end(&t->users, h->held.uid);
	held_give(&t->table, h);
}

/* The CNAMEs of the table at the head of an answer were judged with the question. */
static unsigned int
known_records(const struct held *h)
{
	return h->client.chase != NULL ? wire_load_u16(h->chain + 6) : 0;
}

static void
turn_round(struct holder *t, const struct held *h, size_t length)
{
	queue_reply(t->options.queue->reader, h->held.id, (h->held.mark &
	    ~t->options.mark_mask) | (h->held.guest ? t->options.mark_back :
	    t->options.mark_answered), t->reply, length);
}

/* A rule denies a name of the answer: the client gets what the rule says. */
static void
deny(struct holder *t, struct held *h)
{
	const struct interception *i = &t->judged;

	if (i->reply_length > 0)
		turn_round(t, h, i->reply_length);
	else
		queue_drop(t->options.queue->reader, h->held.id);
	answering_count_rcode(t->options.thread->slot->forwarded_rcodes,
	    i->decision.rcode);
	record(t, h, i->answer, i->answer_length);
	give_back(t, h);
}

static void
client_answer(void *arg, struct engine_client *client, const uint8_t *octets,
    size_t length)
{
	struct holder *t = arg;
	struct held *h = held_of(client);
	const uint8_t rcode = octets[3] & DNS_RCODE_MASK;
	uint8_t *answer;
	size_t room;

	if (held_packet_deny(&h->held, t->options.thread, &t->judged,
	    &(struct policy_answer){ octets, length, known_records(h) },
	    t->reply)) {
		deny(t, h);
		return;
	}
	answer = t->reply + packet_reply_offset(&h->held.packet);
	room = sizeof(t->reply) - packet_reply_offset(&h->held.packet);
	memcpy(answer, octets, length < room ? length : room);
	if (length > room)
		length = cut_answer(h, answer);
	turn_round(t, h, packet_reply(&h->held.packet, t->reply, length));
	answering_count_rcode(t->options.thread->slot->forwarded_rcodes, rcode);
	answering_count_spent(t->options.thread,
	    t->forwarder->boot.ns - client->since.ns, 1);
	h->held.decision.rcode = rcode;
	h->held.decision.verdict = decide_verdict_of(answer, length);
	record(t, h, answer, length);
	give_back(t, h);
}

static void
client_pass(void *arg, struct engine_client *client)
{
	struct holder *t = arg;
	struct held *h = held_of(client);

	if (!t->ending) {
		queue_release_one(t->options.queue->reader, h->held.id);
		h->held.decision.verdict = VERDICT_PASS;
		record(t, h, NULL, 0);
	}
	give_back(t, h);
}

static void
client_drop(void *arg, struct engine_client *client)
{
	struct holder *t = arg;
	struct held *h = held_of(client);

	queue_drop(t->options.queue->reader, h->held.id);
	give_back(t, h);
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
set_chase(struct holder *t, struct interception *i, struct held *h)
{
	const struct answer_source source =
	    generation_source(t->options.thread->generation);

	if (!intercept_chain(i, &source, h->chain, sizeof(h->chain)))
		return false;
	h->chase = (struct chase){
		.chain = h->chain,
		.length = i->answer_length,
		.target = i->summary.target,
		.opt = chase_opt(i->question.edns.present, i->summary.options),
	};
	h->client.chase = &h->chase;
	h->client.end = &h->end;
	return true;
}

bool
holder_hold(struct holder *t, const struct queue_packet *p,
    struct interception *i, bool absent)
{
	struct held *h = forward_has_room(users_questions(&t->users, p->uid),
	    t->table.count, t->options.most) ?
	    held_take(&t->table, p->length) : NULL;

	if (h == NULL)
		return false;
	held_packet_keep(&h->held, p, i, t->options.thread->received_ns,
	    h->octets);
	h->client = (struct engine_client){
		.message = h->held.packet.payload,
		.length = h->held.packet.payload_length,
		.question = i->question,
		.uid = p->uid,
		.generation = t->options.thread->generation->number,
		.domain = i->domain,
		.absent = absent,
		.nameserver = nameserver_of(&i->packet, p),
	};
	/* Of the copy. */
	h->client.question.wire = h->octets + (i->question.wire - p->octets);
	h->round = t->round;
	if (i->decision.reason == REASON_CHASE && !set_chase(t, i, h)) {
		held_give(&t->table, h);
		return false;
	}
	users_add(&t->users, p->uid);
	turns_add(&t->turns, h);
	return true;
}

void
holder_ask(struct holder *t, unsigned int most)
{
	struct held *h;

	forwarder_expect(t->forwarder, t->table.count);
	for (; most > 0 && (h = turns_take(&t->turns)) != NULL; most--) {
		/* Others may have had it answered meanwhile. */
		h->client.absent &= h->round == t->round;
		forwarder_ask(t->forwarder, &h->client);
	}
	t->round++;
}

bool
holder_is_idle(const struct holder *t)
{
	return t->table.count == 0 && forwarder_is_idle(t->forwarder);
}

int
holder_wait(struct holder *t, struct epoll_event events[static FORWARDER_EVENTS])
{
	return forwarder_wait(t->forwarder, events, turns_are_over(&t->turns) ?
	    MONOTIME_NEVER : t->forwarder->boot);
}

static const struct forwarder_clients clients = {
	.answer = client_answer, .pass = client_pass, .drop = client_drop,
};

static int
init(struct holder *t, int queue_fd, uint32_t mark_relay)
{
	const struct forwarder_options options = {
		.thread = t->options.thread, .fd = queue_fd,
		.most = t->options.most, .mark_relay = mark_relay,
		.clients = &clients, .arg = t,
	};
	uint64_t seed;
	int error = held_open(&t->table, t->options.most);

	if (error == 0)
		error = forwarder_new(&t->forwarder, &options);
	if (error < 0)
		return error;
	forwarder_random(t->forwarder, &seed, sizeof(seed));
	turns_init(&t->turns, seed);
	t->users.seed = seed;
	return 0;
}

int
holder_new(struct holder **holder, const struct holder_options *options,
    int queue_fd, uint32_t mark_relay)
{
	struct holder *t = calloc(1, sizeof(*t));
	int error;

	*holder = NULL;
	if (t == NULL)
		return -ENOMEM;
	t->options = *options;
	error = init(t, queue_fd, mark_relay);
	if (error < 0)
		holder_free(t);
	else
		*holder = t;
	return error;
}

void
holder_free(struct holder *t)
{
	if (t == NULL)
		return;
	t->ending = true;
	forwarder_free(t->forwarder);
	held_close(&t->table);
	free(t);
}
