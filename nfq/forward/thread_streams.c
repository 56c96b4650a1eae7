/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forwarding thread and nfdns-tls. */
#include "nfq/forward/thread_state.h"

#include <string.h>

#define TLS_REPLIES	64	/* in one round, at most */

void
thread_begin_reply(struct forward_thread *f, const struct asking *cause,
    const struct window_source *source)
{
	window_begin_reply(f->window, source);
	if (!cause->known)
		return;
	f->window->packets[0] = (struct queue_packet){ .id = cause->id,
		.uid = cause->uid };
	window_begin_packet(f->window, 0);
}

/* What nfdns-tls says: answers, and connections that are over. */
void
thread_streams_take(struct forward_thread *f, uint32_t events)
{
	struct window_source source;
	struct stream_reply reply;

	tls_upstreams_event(&f->tls, f->boot, events);
	for (unsigned int i = 0; i < TLS_REPLIES &&
	    tls_upstreams_receive(&f->tls, f->boot, &reply); i++) {
		f->asking = reply.cause;
		source = (struct window_source){ .family = reply.from->family,
			.port = reply.from->port };
		memcpy(source.address, reply.from->address,
		    sizeof(source.address));
		thread_begin_reply(f, &reply.cause, &source);
		engine_reply(f->engine, f->boot, reply.attempt, reply.octets,
		    reply.length);
		window_end_batch(f->window);
		f->asking.known = false;
	}
}

/* What is due, and attempts that have failed meanwhile, which make others. */
void
thread_streams_tick(struct forward_thread *f)
{
	const monotime_t due = tls_upstreams_next(&f->tls);
	struct stream_reply reply;

	if (f->tls.stuck ||
	    (monotime_is_set(due) && monotime_is_past(f->boot, due)))
		tls_upstreams_tick(&f->tls, f->boot);
	while (tls_upstreams_failed(&f->tls, &reply)) {
		f->asking = reply.cause;
		engine_error(f->engine, f->boot, reply.attempt, -reply.error);
	}
	f->asking.known = false;
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
void
thread_streams_note(struct forward_thread *f,
    const struct forward_settings *settings)
{
	f->tls.idle_s = settings->tls.idle_s;
	f->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		f->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}

bool
thread_streams_are_due(const struct forward_thread *f)
{
	return f->tls.stuck || !TAILQ_EMPTY(&f->tls.failed);
}
