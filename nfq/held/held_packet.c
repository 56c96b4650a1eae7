/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/held/held.h"

#include <string.h>
#include <sys/socket.h>

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
	if (!intercept_judge(i, &source, answer, &room))
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
