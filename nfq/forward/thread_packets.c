/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New questions, of the queue. */
#include "nfq/forward/thread_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/queue/queue.h"

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
set_chase(struct forward_thread *f, struct held *h)
{
	const struct answer_source source =
	    generation_source(f->thread.generation);
	struct interception *i = &f->interception;

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

/* False: the packet cannot be held.  "begun" is NULL, or what it goes on with. */
static bool
hold(struct forward_thread *f, const struct queue_packet *p,
    struct begun_question *begun)
{
	struct interception *i = &f->interception;
	struct held *h = held_take(&f->held, p->length);

	if (h == NULL)
		return false;
	held_packet_keep(&h->held, p, i, f->thread.received_ns, h->octets);
	h->client = (struct engine_client){
		.message = h->held.packet.payload,
		.length = h->held.packet.payload_length,
		.uid = p->uid,
		.nameserver = nameserver_of(&i->packet, p),
	};
	if (i->decision.reason == REASON_CHASE && !set_chase(f, h)) {
		held_give(&f->held, h);
		return false;
	}
	if (begun != NULL)
		thread_express_resume(f, &h->client, begun);
	else
		engine_ask(f->engine, f->boot, &h->client);
	return true;
}

/* Of a packet that is not held. */
static void
record(struct forward_thread *f, const struct queue_packet *p)
{
	const struct interception *i = &f->interception;
	const struct held_packet packet = {
		.id = p->id, .uid = p->uid, .gid = p->gid,
		.received_ns = f->thread.received_ns,
		.decision = i->decision, .note = intercept_note(i),
		.packet = i->packet };

	if (i->form == PACKET_OK)
		held_packet_record(&packet, &f->thread, 0, i->answer,
		    i->answer_length);
}

/*
 * The queue names no user once the socket is closed.  Nobody waits for the answer
 * then, but a rule could deny a name that it leads to.
 */
static bool
is_unjudged(struct forward_thread *f, const struct queue_packet *p)
{
	struct interception *i = &f->interception;

	if (p->uid != (uid_t)-1 || !intercept_drop_unowned(i))
		return false;
	answering_count(&f->thread, &i->decision);
	record(f, p);
	return true;
}

/*
 * The queue's thread has decided this before, perhaps by settings that have
 * changed since: what is none of ours any more is answered, or passes.
 */
static void
take_packet(struct forward_thread *f, const struct queue_packet *p,
    struct begun_question *begun)
{
	const struct answer_source source =
	    generation_source(f->thread.generation);
	struct interception *i = &f->interception;

	i->asker = (struct asker){ .now = f->thread.now, .uid = p->uid,
		.gid = p->gid, .device = p->device };
	f->policy.rules = f->thread.generation->rules;
	i->policy = f->policy.rules != NULL ? &f->policy : NULL;
	i->forward = &f->thread.generation->settings.forward;
	i->forward_full = false;
	intercept_parse(i, p->octets, p->length, p->whole_length);
	intercept_answer(i, &source, f->thread.rotation++, f->reply);
	if (!is_unjudged(f, p) && i->decision.verdict == VERDICT_FORWARD) {
		if (hold(f, p, begun))
			return;
		/* Too long, or too many: what the domain says of that. */
		i->forward_full = true;
		intercept_answer(i, &source, f->thread.rotation, f->reply);
		record(f, p);
	}
	waiting_end(f->waiting, p->uid);
	if (i->reply_length > 0)
		queue_reply(f->queue.reader, p->id,
		    (p->mark & ~f->mark_mask) | f->mark_answered, f->reply,
		    i->reply_length);
	else if (i->decision.verdict == VERDICT_DROP)
		queue_drop(f->queue.reader, p->id);
	else
		queue_release_one(f->queue.reader, p->id);
}

void
thread_take_packet(struct forward_thread *f, const struct queue_packet *p)
{
	struct begun_question *begun = thread_express_take(f, p);

	take_packet(f, p, begun);
	begun_free(begun);
}
