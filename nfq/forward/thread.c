/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/forward/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/forward/thread_state.h"
#include "nfq/handover/control.h"
#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "policy/log.h"

#define FLUSHED_AT_ONCE	20000	/* entries that are looked at in one round */

static const struct forward_settings *
forward_settings_of(const struct forward_thread *f)
{
	return &f->thread.generation->settings.forward;
}

/* A supervisor that is gone shows elsewhere. */
static void
want_tls(struct forward_thread *f)
{
	const struct control_message order = { .kind = CONTROL_TLS_WANTED };

	if (tcp_upstreams_want_tls(f->forwarder->tcp, f->thread.now,
	    f->has_tls) || atomic_exchange(&f->thread.threads->wants_tls, false))
		(void)!control_send(f->control, &order, NULL, 0);
}

static void
wake(struct forward_thread *f)
{
	const uint64_t one = 1;

	(void)!write(f->wake, &one, sizeof(one));
}

void
forward_look_for_loops(struct forward_thread *f)
{
	if (f == NULL)
		return;
	atomic_store(&f->look_due, true);
	wake(f);
}

bool
forward_take_flush(struct forward_thread *f, const struct flush *flush)
{
	if (f == NULL || atomic_load(&f->flush_due))
		return false;
	f->flush = *flush;
	atomic_store(&f->flush_due, true);
	wake(f);
	return true;
}

/*
 * A part of it in each round, between which packets and replies are handled.  The
 * supervisor gives the next order when this one is answered.
 */
static void
do_flush(struct forward_thread *f)
{
	struct control_message answer = { .kind = CONTROL_FLUSHED,
		.generation = f->flush.number };
	struct cache *cache = f->thread.generation->cache;

	if (!atomic_load(&f->flush_due))
		return;
	if (cache != NULL)
		f->flushed += cache_flush_part(cache, &f->flush.name,
		    f->flush.below, &f->flush_place, FLUSHED_AT_ONCE);
	if (cache != NULL && f->flush_place != 0)
		return;
	answer.names = cache != NULL ? f->flushed : CONTROL_NO_CACHE;
	f->flush_place = f->flushed = 0;
	atomic_store(&f->flush_due, false);
	(void)!control_send(f->control, &answer, NULL, 0);
}

void
forward_take_generation(struct forward_thread *f)
{
	if (f != NULL)
		wake(f);
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
static void
note_tls(struct forward_thread *f, const struct forward_settings *settings)
{
	f->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		f->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}

/* After a reload nothing is kept until what it removes is gone. */
static void
take_settings(struct forward_thread *f)
{
	const struct generation *generation = f->thread.generation;
	const bool reloaded = f->forwarder->generation != generation->number;

	if (reloaded && generation->cache != NULL)
		cache_set_generation(generation->cache, CACHE_CHANGING);
	forwarder_begin(f->forwarder, generation->cache);
	if (!reloaded)
		return;
	note_tls(f, forward_settings_of(f));
	forward_page_reload(f);
	if (generation->cache != NULL)
		cache_set_generation(generation->cache, generation->number);
}

/*
 * What a worker before this one has kept.  If it died between a reload and what
 * that removes, nothing says which answers are still good.
 */
static void
take_cache(const struct generation *generation)
{
	const struct dns_name root = { .length = 1 };
	struct cache *cache = generation->cache;

	if (cache == NULL)
		return;
	if (cache_generation(cache) != generation->number)
		(void)cache_flush(cache, &root, true);
	cache_set_generation(cache, generation->number);
}

static void
do_round(struct forward_thread *f, const struct epoll_event *events, int count)
{
	uint64_t woken;

	answering_begin(&f->thread, monotime_now());
	take_settings(f);
	do_flush(f);
	if (atomic_exchange(&f->look_due, false))
		engine_look_for_loops(f->forwarder->engine, f->forwarder->boot);
	for (int i = 0; i < count; i++)
		if (events[i].data.ptr == &f->wake)
			(void)!read(f->wake, &woken, sizeof(woken));
	forwarder_take(f->forwarder, events, count);
	want_tls(f);
	forwarder_end(f->forwarder, 0);
	forward_page_show(f);
	answering_end(&f->thread);
}

static void
forward_run(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;
	struct epoll_event events[FORWARDER_EVENTS];

	while (!answering_is_stopping(thread)) {
		const bool now = atomic_load(&f->flush_due);

		do_round(f, events, forwarder_wait(f->forwarder, events, now ?
		    f->forwarder->boot : forward_page_next(f)));
	}
}

static void
forward_free(struct answering_thread *thread)
{
	struct forward_thread *f = (struct forward_thread *)thread;

	forwarder_free(f->forwarder);
	if (f->wake >= 0)
		(void)close(f->wake);
	free(f);
}

static const struct answering_kind forward_kind = {
	.run = forward_run,
	.free = forward_free,
};

/* 0 or a negative errno. */
static int
init(struct forward_thread *f, const struct worker_handover *h)
{
	const struct generation *generation =
	    atomic_load(&f->thread.threads->current);
	const struct forward_settings *settings = &generation->settings.forward;
	const struct forwarder_options options = {
		.thread = &f->thread, .fd = -1, .keeps = true,
		.mark_relay = h->options.mark_relay,
	};
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = &f->wake };
	int error = forwarder_new(&f->forwarder, &options);

	if (error < 0)
		return error;
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0 || epoll_ctl(f->forwarder->epoll, EPOLL_CTL_ADD, f->wake,
	    &event) < 0)
		return -errno;
	(void)child_raise_files();	/* each question has a socket */
	note_tls(f, settings);
	take_cache(generation);
	forward_page_begin(f, h->status->forwarding, h->status->workers,
	    (unsigned int)h->status->worker_slots);
	return 0;
}

int
forward_start(struct forward_thread **thread, struct answering_threads *threads,
    const struct worker_handover *h, unsigned int number)
{
	struct forward_thread *f = calloc(1, sizeof(*f));
	int error;

	*thread = NULL;
	if (f == NULL)
		return -ENOMEM;
	f->wake = -1;
	f->control = h->control;
	answering_thread_init(&f->thread, threads, number);
	error = init(f, h);
	if (error == 0)
		error = answering_thread_start(&f->thread, &forward_kind);
	if (error == 0)
		atomic_store(&threads->keeper, f->wake);
	/* On failure the process ends, and all of this with it. */
	if (error == 0)
		*thread = f;
	return error;
}
