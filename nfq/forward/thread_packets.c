/* SPDX-License-Identifier: GPL-2.0-or-later */
/* New questions, of the queue. */
#include "nfq/forward/thread_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfq/queue/queue.h"

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
void
thread_take_packet(struct forward_thread *f, const struct queue_packet *p)
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
		if (forwarder_hold(f->forwarder, p, i))
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
