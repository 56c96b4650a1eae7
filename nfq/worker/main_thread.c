/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/worker/main_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nfq/handover/control.h"
#include "nfq/process/child.h"
#include "policy/log.h"

#define FLUSHED_AT_ONCE	20000	/* entries that are looked at in one round */

static const struct forward_settings *
forward_settings_of(const struct main_thread *m)
{
	return &m->thread.generation->settings.forward;
}

/* A supervisor that is gone shows elsewhere. */
static void
want_tls(struct main_thread *m)
{
	const struct control_message order = { .kind = CONTROL_TLS_WANTED };

	if (tcp_upstreams_want_tls(m->forwarder->tcp, m->thread.now,
	    m->has_tls) || atomic_exchange(&m->thread.threads->wants_tls, false))
		(void)!control_send(m->control, &order, NULL, 0);
}

/*
 * A part of it in each round, between which packets and replies are handled.  The
 * supervisor gives the next order when this one is answered.
 */
static void
do_flush(struct main_thread *m)
{
	struct control_message answer = { .kind = CONTROL_FLUSHED,
		.generation = m->flush.number };
	struct cache *cache = m->thread.generation->cache;

	if (!m->flush_due)
		return;
	if (cache != NULL)
		m->flushed += cache_flush_part(cache, &m->flush.name,
		    m->flush.below, &m->flush_place, FLUSHED_AT_ONCE);
	if (cache != NULL && m->flush_place != 0)
		return;
	answer.names = cache != NULL ? m->flushed : CONTROL_NO_CACHE;
	m->flush_place = m->flushed = 0;
	m->flush_due = false;
	(void)!control_send(m->control, &answer, NULL, 0);
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
static void
note_tls(struct main_thread *m, const struct forward_settings *settings)
{
	m->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		m->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}

/* After a reload nothing is kept until what it removes is gone. */
static void
take_settings(struct main_thread *m)
{
	const struct generation *generation = m->thread.generation;
	const bool reloaded = m->forwarder->generation != generation->number;

	if (reloaded && generation->cache != NULL)
		cache_set_generation(generation->cache, CACHE_CHANGING);
	forwarder_begin(m->forwarder, generation->cache);
	if (!reloaded)
		return;
	note_tls(m, forward_settings_of(m));
	forward_page_reload(m);
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
begin(struct main_thread *m)
{
	answering_begin(&m->thread, monotime_now());
	take_settings(m);
}

static void
end(struct main_thread *m)
{
	want_tls(m);
	forwarder_end(m->forwarder, 0);
	forward_page_show(m);
	answering_end(&m->thread);
}

void
main_thread_round(struct main_thread *m, bool *ordered)
{
	struct epoll_event events[FORWARDER_EVENTS];
	const int count = forwarder_wait(m->forwarder, events, m->flush_due ?
	    m->forwarder->boot : forward_page_next(m));
	uint64_t woken;

	*ordered = false;
	begin(m);
	do_flush(m);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &m->wake)
			(void)!read(m->wake, &woken, sizeof(woken));
		*ordered |= events[i].data.ptr == NULL;
	}
	forwarder_take(m->forwarder, events, count);
	end(m);
}

void
main_thread_take_generation(struct main_thread *m)
{
	atomic_store_explicit(&m->thread.slot->table_generation,
	    atomic_load(&m->thread.threads->current)->number,
	    memory_order_relaxed);
	begin(m);
	end(m);
}

void
main_thread_look_for_loops(struct main_thread *m)
{
	engine_look_for_loops(m->forwarder->engine, monotime_boot());
}

bool
main_thread_take_flush(struct main_thread *m, const struct flush *flush)
{
	if (m->flush_due)
		return false;
	m->flush = *flush;
	m->flush_due = true;
	return true;
}

void
main_thread_take_tls(struct main_thread *m, int channel)
{
	const int old = atomic_exchange(&m->thread.tls,
	    fcntl(channel, F_DUPFD_CLOEXEC, 0));

	if (old >= 0)
		(void)close(old);
}

void
main_thread_free(struct main_thread *m)
{
	forwarder_free(m->forwarder);
	if (m->wake >= 0)
		(void)close(m->wake);
	if (m->thread.tls >= 0)
		(void)close(m->thread.tls);
	free(m);
}

/* 0 or a negative errno. */
static int
init(struct main_thread *m, const struct worker_handover *h)
{
	const struct generation *generation =
	    atomic_load(&m->thread.threads->current);
	const struct forwarder_options options = {
		.thread = &m->thread, .fd = m->control, .probes = true,
		.mark_relay = h->options.mark_relay,
	};
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = &m->wake };
	int error = forwarder_new(&m->forwarder, &options);

	if (error < 0)
		return error;
	m->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->wake < 0 || epoll_ctl(m->forwarder->epoll, EPOLL_CTL_ADD, m->wake,
	    &event) < 0)
		return -errno;
	atomic_store(&m->thread.threads->main_wake, m->wake);
	atomic_store(&m->thread.slot->thread, (uint32_t)gettid());
	(void)child_raise_files();	/* each question has a socket */
	note_tls(m, &generation->settings.forward);
	take_cache(generation);
	forward_page_begin(m, h->status);
	return 0;
}

int
main_thread_new(struct main_thread **main_thread,
    struct answering_threads *threads, const struct worker_handover *h,
    unsigned int number)
{
	struct main_thread *m = calloc(1, sizeof(*m));
	int error;

	*main_thread = NULL;
	if (m == NULL)
		return -ENOMEM;
	m->wake = -1;
	m->control = h->control;
	answering_thread_init(&m->thread, threads, number);
	error = init(m, h);
	if (error < 0)
		main_thread_free(m);
	else
		*main_thread = m;
	return error;
}
