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
forward_settings_of(const struct main_thread *k)
{
	return &k->thread.generation->settings.forward;
}

/* A supervisor that is gone shows elsewhere. */
static void
want_tls(struct main_thread *k)
{
	const struct control_message order = { .kind = CONTROL_TLS_WANTED };

	if (tcp_upstreams_want_tls(k->forwarder->tcp, k->thread.now,
	    k->has_tls) || atomic_exchange(&k->thread.threads->wants_tls, false))
		(void)!control_send(k->control, &order, NULL, 0);
}

/*
 * A part of it in each round, between which packets and replies are handled.  The
 * supervisor gives the next order when this one is answered.
 */
static void
do_flush(struct main_thread *k)
{
	struct control_message answer = { .kind = CONTROL_FLUSHED,
		.generation = k->flush.number };
	struct cache *cache = k->thread.generation->cache;

	if (!k->flush_due)
		return;
	if (cache != NULL)
		k->flushed += cache_flush_part(cache, &k->flush.name,
		    k->flush.below, &k->flush_place, FLUSHED_AT_ONCE);
	if (cache != NULL && k->flush_place != 0)
		return;
	answer.names = cache != NULL ? k->flushed : CONTROL_NO_CACHE;
	k->flush_place = k->flushed = 0;
	k->flush_due = false;
	(void)!control_send(k->control, &answer, NULL, 0);
}

/* Whether nfdns-tls is needed; the first question should not wait for it. */
static void
note_tls(struct main_thread *k, const struct forward_settings *settings)
{
	k->has_tls = false;
	for (uint32_t i = 0; i < settings->upstreams; i++)
		k->has_tls |= settings->upstream[i].transport == FORWARD_TLS;
}

/* After a reload nothing is kept until what it removes is gone. */
static void
take_settings(struct main_thread *k)
{
	const struct generation *generation = k->thread.generation;
	const bool reloaded = k->forwarder->generation != generation->number;

	if (reloaded && generation->cache != NULL)
		cache_set_generation(generation->cache, CACHE_CHANGING);
	forwarder_begin(k->forwarder, generation->cache);
	if (!reloaded)
		return;
	note_tls(k, forward_settings_of(k));
	forward_page_reload(k);
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
begin(struct main_thread *k)
{
	answering_begin(&k->thread, monotime_now());
	take_settings(k);
}

static void
end(struct main_thread *k)
{
	want_tls(k);
	forwarder_end(k->forwarder, 0);
	forward_page_show(k);
	answering_end(&k->thread);
}

void
main_thread_round(struct main_thread *k, bool *ordered)
{
	struct epoll_event events[FORWARDER_EVENTS];
	const int count = forwarder_wait(k->forwarder, events, k->flush_due ?
	    k->forwarder->boot : forward_page_next(k));
	uint64_t woken;

	*ordered = false;
	begin(k);
	do_flush(k);
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &k->wake)
			(void)!read(k->wake, &woken, sizeof(woken));
		*ordered |= events[i].data.ptr == NULL;
	}
	forwarder_take(k->forwarder, events, count);
	end(k);
}

void
main_thread_take_generation(struct main_thread *k)
{
	atomic_store_explicit(&k->thread.slot->table_generation,
	    atomic_load(&k->thread.threads->current)->number,
	    memory_order_relaxed);
	begin(k);
	end(k);
}

void
main_thread_look_for_loops(struct main_thread *k)
{
	engine_look_for_loops(k->forwarder->engine, monotime_boot());
}

bool
main_thread_take_flush(struct main_thread *k, const struct flush *flush)
{
	if (k->flush_due)
		return false;
	k->flush = *flush;
	k->flush_due = true;
	return true;
}

void
main_thread_take_tls(struct main_thread *k, int channel)
{
	const int old = atomic_exchange(&k->thread.tls,
	    fcntl(channel, F_DUPFD_CLOEXEC, 0));

	if (old >= 0)
		(void)close(old);
}

void
main_thread_free(struct main_thread *k)
{
	forwarder_free(k->forwarder);
	if (k->wake >= 0)
		(void)close(k->wake);
	if (k->thread.tls >= 0)
		(void)close(k->thread.tls);
	free(k);
}

/* 0 or a negative errno. */
static int
init(struct main_thread *k, const struct worker_handover *h)
{
	const struct generation *generation =
	    atomic_load(&k->thread.threads->current);
	const struct forwarder_options options = {
		.thread = &k->thread, .fd = k->control, .probes = true,
		.mark_relay = h->options.mark_relay,
	};
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = &k->wake };
	int error = forwarder_new(&k->forwarder, &options);

	if (error < 0)
		return error;
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->wake < 0 || epoll_ctl(k->forwarder->epoll, EPOLL_CTL_ADD, k->wake,
	    &event) < 0)
		return -errno;
	atomic_store(&k->thread.threads->main_wake, k->wake);
	atomic_store(&k->thread.slot->thread, (uint32_t)gettid());
	(void)child_raise_files();	/* each question has a socket */
	note_tls(k, &generation->settings.forward);
	take_cache(generation);
	forward_page_begin(k, h->status);
	return 0;
}

int
main_thread_new(struct main_thread **main_thread,
    struct answering_threads *threads, const struct worker_handover *h,
    unsigned int number)
{
	struct main_thread *k = calloc(1, sizeof(*k));
	int error;

	*main_thread = NULL;
	if (k == NULL)
		return -ENOMEM;
	k->wake = -1;
	k->control = h->control;
	answering_thread_init(&k->thread, threads, number);
	error = init(k, h);
	if (error < 0)
		main_thread_free(k);
	else
		*main_thread = k;
	return error;
}
