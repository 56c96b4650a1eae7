/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/held.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <xxhash.h>

void
turns_init(struct turns *t, uint64_t seed)
{
	t->seed = seed;
	TAILQ_INIT(&t->due);
	for (size_t i = 0; i < TURNS; i++)
		STAILQ_INIT(&t->turns[i].waiting);
}

static size_t
turn_of(const struct turns *t, uid_t uid)
{
	return XXH3_64bits_withSeed(&uid, sizeof(uid), t->seed) % TURNS;
}

void
turns_add(struct turns *t, struct held *h)
{
	struct turn *turn = &t->turns[turn_of(t, h->held.uid)];

	if (STAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	STAILQ_INSERT_TAIL(&turn->waiting, h, turn);
}

struct held *
turns_take(struct turns *t)
{
	struct turn *turn = TAILQ_FIRST(&t->due);
	struct held *h;

	if (turn == NULL)
		return NULL;
	h = STAILQ_FIRST(&turn->waiting);
	STAILQ_REMOVE_HEAD(&turn->waiting, turn);
	TAILQ_REMOVE(&t->due, turn, entry);
	if (!STAILQ_EMPTY(&turn->waiting))
		TAILQ_INSERT_TAIL(&t->due, turn, entry);
	return h;
}

int
held_open(struct held_table *t, uint32_t max)
{
	SLIST_INIT(&t->free);
	t->count = t->most = 0;
	t->max = max;
	t->all = calloc(max, sizeof(*t->all));
	return t->all == NULL ? -ENOMEM : 0;
}

void
held_close(struct held_table *t)
{
	free(t->all);
	t->all = NULL;
}

struct held *
held_take(struct held_table *t, size_t length)
{
	struct held *h = SLIST_FIRST(&t->free);

	if (length > sizeof(h->octets) || (h == NULL && t->most == t->max))
		return NULL;
	if (h != NULL)
		SLIST_REMOVE_HEAD(&t->free, entry);
	else
		h = &t->all[t->most++];
	t->count++;
	return h;
}

void
held_give(struct held_table *t, struct held *h)
{
	SLIST_INSERT_HEAD(&t->free, h, entry);
	t->count--;
}

static const uint8_t *
moved(const uint8_t *at, const uint8_t *from, const uint8_t *to)
{
	return to + (at - from);
}

void
held_packet_keep(struct held_packet *h, const struct queue_packet *p,
    const struct interception *i, uint64_t received_ns, uint8_t *octets)
{
	const struct packet *from = &i->packet;

	h->id = p->id;
	h->mark = p->mark;
	h->device = i->asker.device;
	h->guest = p->guest;
	h->uid = p->uid;
	h->gid = p->gid;
	h->received_ns = received_ns;
	h->decision = i->decision;
	h->note = intercept_note(i);
	memcpy(octets, p->octets, p->length);
	h->packet = *from;
	h->packet.octets = octets;
	h->packet.source = moved(from->source, p->octets, octets);
	h->packet.destination = moved(from->destination, p->octets, octets);
	h->packet.payload = moved(from->payload, p->octets, octets);
}

bool
held_packet_deny(struct held_packet *h, const struct answering_thread *thread,
    struct interception *i, const struct policy_answer *answer,
    uint8_t reply[static INTERCEPT_REPLY_MAX])
{
	const struct answer_source source =
	    generation_source(thread->generation);
	const struct reply_room room = reply_room_of_packet(reply);

	i->policy = generation_policy(thread->generation);
	if (i->policy == NULL)
		return false;
	i->asker = (struct asker){ .now = thread->now, .uid = h->uid,
		.gid = h->gid, .device = h->device,
		.family = h->packet.family, .protocol = h->packet.protocol,
		.port = h->packet.source_port, .address = h->packet.source };
	i->packet = h->packet;
	question_parse(&i->question, i->packet.payload,
	    i->packet.payload_length);
	if (h->guest)
		intercept_limit(&i->question);
	i->decision = h->decision;
	i->found = (struct policy_found){ .would = RULE_NOTHING };
	if (!intercept_judge(i, &source, answer, room))
		return false;
	h->decision = i->decision;
	h->note = intercept_note_again(i, &h->note);
	return true;
}

void
held_packet_record(const struct held_packet *h, struct answering_thread *thread,
    uint16_t queue, const uint8_t *answer, size_t length)
{
	struct audit_record r = {
		.packet_id = h->id,
		.queue = queue,
		.uid = h->uid,
		.gid = h->gid,
		.answer_length = (uint16_t)length,
		.answer = answer,
	};

	if (!answering_is_noted(thread, &h->decision, &h->note))
		return;
	held_packet_describe(&r, &h->packet);
	answering_set_note(&r, &h->note);
	answering_record(thread, &h->decision, h->received_ns, h->device, &r);
}

void
held_packet_describe(struct audit_record *r, const struct packet *packet)
{
	const size_t octets = packet->family == AF_INET ? 4 : 16;

	r->family = packet->family;
	r->client_port = packet->source_port;
	r->server_port = packet->destination_port;
	memcpy(r->client, packet->source, octets);
	memcpy(r->server, packet->destination, octets);
	r->question = packet->payload;
	r->question_length = (uint16_t)packet->payload_length;
}
