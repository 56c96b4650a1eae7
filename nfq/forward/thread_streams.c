/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forwarding thread and its connections to upstreams, with TLS and without. */
#include "nfq/forward/thread_state.h"

#include <errno.h>
#include <sys/epoll.h>

void
thread_tcp_take(struct forward_thread *f)
{
	struct stream_reply reply;

	tcp_upstreams_wait(f->tcp);
	while (tcp_upstreams_receive(f->tcp, f->boot, &reply))
		engine_reply(f->engine, f->boot, reply.attempt, reply.octets,
		    reply.length);
}

/* No descriptor, no memory, no place for one more connection. */
static bool
is_ours(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM ||
	    error == -ENOBUFS;
}

static void
fail(struct forward_thread *f, const struct stream_reply *reply)
{
	if (is_ours(reply->error))
		engine_unsent(f->engine, f->boot, reply->attempt,
		    -reply->error);
	else
		engine_error(f->engine, f->boot, reply->attempt,
		    -reply->error);
}

/* What is due, and attempts that have failed meanwhile, which make others. */
void
thread_streams_tick(struct forward_thread *f)
{
	struct stream_reply reply;

	if (monotime_is_due(f->boot, tcp_upstreams_next(f->tcp)))
		tcp_upstreams_tick(f->tcp, f->boot);
	while (tcp_upstreams_failed(f->tcp, &reply))
		fail(f, &reply);
	tcp_upstreams_flush(f->tcp);
}

int
thread_streams_init(struct forward_thread *f,
    const struct worker_options *options)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &f->tcp };
	uint64_t seed;

	forward_random(f, &seed, sizeof(seed));
	f->tcp = tcp_upstreams_new(options->mark_relay, seed);
	if (f->tcp == NULL)
		return -ENOMEM;
	return epoll_ctl(f->epoll, EPOLL_CTL_ADD, tcp_upstreams_fd(f->tcp),
	    &event) < 0 ? -errno : 0;
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
void
thread_streams_note(struct forward_thread *f,
    const struct forward_settings *settings)
{
	tcp_upstreams_set_idle(f->tcp, settings->tls.idle_s);
	f->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		f->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}
