/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's main thread.  In this order, it closes files that are not the
 * worker's, drops privileges, maps the table, starts the threads, restricts
 * system calls, and only then lets the threads read the first packet.
 */
#include "nfq/worker/worker.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/handover/generation_files.h"
#include "nfq/worker/main_thread.h"
#include "nfq/cache/cache_memory.h"
#include "nfq/ask/upstream.h"
#include "nfq/process/exit_code.h"
#include "nfq/process/sandbox.h"
#include "nfq/stream/stream.h"
#include "nfq/stream/listen.h"
#include "policy/log.h"

#define AUDIT_FLUSH_MS	1000
#define RATE_BITS	16	/* 65,536 token buckets of 16 octets */
#define MAPPED_OCTETS	(72 << 10)	/* no message is so long */

struct worker {
	const struct worker_handover *handover;
	int control;
	struct generation *generation;
	struct audit *audit;
	struct answering_threads threads;
	struct stream *stream;		/* one of them; NULL: TCP is not captured */
	struct main_thread *main_thread;
	struct cache_memory cache;	/* of forwarding */
	struct upstreams upstreams;	/* of forwarding, too */
	struct rate_table *rates;	/* of the policy: it outlives reloads */
	uint64_t audit_lost_before;	/* by workers before this one */
};

/* Closes files that are not the worker's, and drops privileges. */
static int
confine(const struct worker_handover *h)
{
	int keep[CONFIG_MAX_WORKERS + AUDIT_MAX_FILES + STREAM_LISTENERS +
	    5];
	const struct generation_files *g = h->generation;
	size_t count = 0;
	int error;

	for (unsigned int i = 0; i < h->options.queues; i++)
		keep[count++] = h->queues[i];
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		keep[count++] = h->listeners[i];
	for (size_t i = 0; i < g->audit.count; i++)
		if (g->audit.files[i].fd >= 0)
			keep[count++] = g->audit.files[i].fd;
	keep[count++] = g->image;
	keep[count++] = g->settings;
	keep[count++] = g->cache;
	keep[count++] = h->control;
	status_forget_supervisor(h->status);
	if ((error = child_isolate(keep, count)) < 0 ||
	    (error = sandbox_worker_privileges(h->options.uid,
	    h->options.gid)) < 0)
		log_error("the worker cannot give up its privileges: %s: run "
		    "as root or through systemd", strerror(-error));
	else if ((error = child_die_with(h->supervisor)) < 0)
		log_debug("the supervisor is gone");
	return error;
}

/* One thread for each queue, and that of TCP. */
static int
start_threads(struct worker *w)
{
	const struct worker_handover *h = w->handover;
	const unsigned int slots = (unsigned int)h->status->worker_slots;
	int error = 0;

	answering_threads_init(&w->threads, w->generation, w->audit,
	    h->status->workers);
	w->threads.upstreams = &w->upstreams;
	w->threads.hitters = h->status->hitters.page;
	for (unsigned int n = 0; n < h->options.queues && error == 0; n++)
		error = queue_thread_start(&w->threads, h, n);
	if (error == 0)
		error = main_thread_new(&w->main_thread, &w->threads, h, slots - 1);
	if (error == 0 && h->options.tcp)
		error = stream_start(&w->stream, &w->threads, h, slots - 2);
	return error;
}

/*
 * Gives a generation the cache whose file comes with it: the one that is open, if
 * it is of that file, else *fresh.  0 or a negative errno.
 */
static int
set_cache(const struct worker *w, struct generation *g, int file,
    struct cache_memory *fresh)
{
	int error = 0;

	*fresh = (struct cache_memory){ .cache = NULL };
	if (file < 0)
		return 0;
	if (cache_memory_is(&w->cache, file)) {
		g->cache = w->cache.cache;
		return 0;
	}
	error = cache_memory_open(fresh, file, g->settings.forward.cache.size);
	g->cache = fresh->cache;
	return error;
}

/* The table of rates, with a secret that the sandbox would not give. */
static int
make_rates(struct worker *w)
{
	uint8_t secret[RATE_SECRET];

	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return -errno;
	w->rates = rate_new(RATE_BITS, secret);
	explicit_bzero(secret, sizeof(secret));
	return w->rates != NULL ? 0 : -ENOMEM;
}

/* What a generation's rules take from and count in. */
static void
set_policy(struct worker *w, struct generation *g)
{
	g->policy.rates = w->rates;
	g->policy.counters = policy_status_assign(w->handover->status->policy,
	    g->rules);
}

static int
begin_audit(struct worker *w)
{
	const struct status_page *page = w->handover->status;
	int error;

	w->audit_lost_before = atomic_load(&page->workers[0].audit_lost);
	error = audit_start(&w->audit, (unsigned int)page->worker_slots);
	if (error == 0)
		audit_set_unread(w->audit,
		    atomic_load(&page->workers[0].unread_told));
	return error;
}

/* Starts the threads, which wait, and then restricts system calls. */
static int
prepare(struct worker *w)
{
	const struct worker_handover *h = w->handover;
	const struct generation_files *g = h->generation;
	const char *why;
	int error;

#ifdef __GLIBC__
	/*
	 * A pool is used in part: mapped, it is cleared as it is used.  Without this
	 * the threshold grows, and calloc(3) clears what the heap had before.
	 */
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_OCTETS);
#endif
	w->generation = generation_open(g->number, g->image, g->settings, NULL,
	    &why);
	if (w->generation == NULL) {
		log_error("the worker cannot use the table image: %s", why);
		return WORKER_BAD_IMAGE;
	}
	if ((error = set_cache(w, w->generation, g->cache, &w->cache)) < 0) {
		log_error("the worker cannot open the cache: %s",
		    strerror(-error));
		return WORKER_FAILED;
	}
	if ((error = make_rates(w)) < 0) {
		log_error("the worker cannot make the table of rates: %s",
		    strerror(-error));
		return WORKER_FAILED;
	}
	set_policy(w, w->generation);
	upstreams_enter(&w->upstreams, monotime_boot(),
	    &w->generation->settings.forward, NULL);
	(void)close(g->image);		/* mapped */
	(void)close(g->settings);	/* copied */
	if (g->cache >= 0)
		(void)close(g->cache);	/* mapped */
	if ((error = begin_audit(w)) < 0) {
		log_error("the worker cannot start the audit's writer: %s",
		    strerror(-error));
		return WORKER_FAILED;
	}
	audit_set_files(w->audit, g->audit.files, g->audit.count);
	if ((error = start_threads(w)) < 0) {
		log_error("the worker cannot start its threads: %s",
		    strerror(-error));
		return WORKER_FAILED;
	}
	if ((error = sandbox_worker_seccomp()) < 0) {
		log_error("the worker cannot restrict its system calls: %s",
		    strerror(-error));
		return WORKER_FAILED;
	}
	return WORKER_DONE;
}

static void
reply(struct worker *w, const struct control_message *message)
{
	/* A supervisor that is gone shows at the next receive. */
	(void)!control_send(w->control, message, NULL, 0);
}

/* For tests and for people who look for a fault. */
static void
tell_settings(const struct generation *g)
{
	char text[SETTINGS_TEXT];

	log_debug("the worker answers from generation %llu: %s",
	    (unsigned long long)g->number, settings_text(&g->settings, text));
}

/*
 * Every thread answers from "next" when this returns.  If its cache is another
 * one, it is "fresh".  Without "audit" the audit's files stay.
 */
static void
use_generation(struct worker *w, struct generation *next,
    const struct audit_files *audit, struct cache_memory *fresh)
{
	struct generation *old = w->generation;

	w->generation = next;
	upstreams_enter(&w->upstreams, monotime_boot(),
	    &next->settings.forward, &old->settings.forward);
	answering_threads_swap(&w->threads, next);
	main_thread_take_generation(w->main_thread);
	if (old->cache != next->cache) {
		cache_memory_close(&w->cache);
		w->cache = *fresh;
	}
	generation_close(old);
	if (audit != NULL)
		audit_set_files(w->audit, audit->files, audit->count);
	log_change_level((enum log_level)next->settings.log_level);
	tell_settings(next);
}

/* All of the new generation is in use, or nothing of it. */
static void
take_generation(struct worker *w, const struct control_message *order,
    const int *fds)
{
	struct control_message answer = { .kind = CONTROL_GENERATION_BAD,
		.generation = order->generation };
	struct generation_files files = GENERATION_FILES_INIT;
	struct generation *next = NULL;
	struct cache_memory fresh = { .cache = NULL };
	const char *why = "its files are not what they should be";
	bool table_only;

	if (generation_files_take(&files, order, fds) == 0)
		next = generation_open(files.number, files.image,
		    files.settings, w->generation, &why);
	table_only = files.settings < 0;
	if (next != NULL && table_only) {
		next->cache = w->generation->cache;
	} else if (next != NULL && set_cache(w, next, files.cache, &fresh) < 0) {
		why = "the cache cannot be opened";
		generation_close(next);
		next = NULL;
	}
	if (next != NULL) {
		set_policy(w, next);
		use_generation(w, next, table_only ? NULL : &files.audit,
		    &fresh);
		files.audit.count = 0;	/* the audit has them now */
		answer.kind = CONTROL_GENERATION_OK;
		answer.names = table_names(next->table);
		answer.octets = table_octets(next->table);
	} else
		(void)snprintf(answer.text, sizeof(answer.text), "%s", why);
	generation_files_close(&files);
	reply(w, &answer);
}

static void
take_audit_files(struct worker *w, const struct control_message *order,
    const int *fds)
{
	const struct control_message answer = { .kind = CONTROL_AUDIT_FILES_OK };
	struct audit_files files;

	if (audit_files_take(&files, order, fds) < 0)
		return;
	audit_set_files(w->audit, files.files, files.count);
	reply(w, &answer);
}

static void
take_flush(struct worker *w, const struct control_message *order)
{
	const struct control_message none = { .kind = CONTROL_FLUSHED,
		.generation = order->generation, .names = CONTROL_NO_CACHE };
	struct flush flush = { .number = (uint32_t)order->generation };

	if (flush_parse(&flush, order->name, order->name_length) < 0 ||
	    !main_thread_take_flush(w->main_thread, &flush))
		reply(w, &none);
}

/* Carries one order out; each takes its files over.  False: the last one. */
static bool
obey(struct worker *w, const struct control_message *order, int *fds)
{
	if (order->kind == CONTROL_GENERATION ||
	    order->kind == CONTROL_TABLE) {
		take_generation(w, order, fds);
		return true;
	}
	if (order->kind == CONTROL_AUDIT_FILES) {
		take_audit_files(w, order, fds);
		return true;
	}
	if (order->kind == CONTROL_RULES && order->fd_count == 0) {
		main_thread_look_for_loops(w->main_thread);
		return true;
	}
	if (order->kind == CONTROL_FLUSH && order->fd_count == 0) {
		take_flush(w, order);
		return true;
	}
	if (order->kind == CONTROL_TLS && order->fd_count == 1) {
		main_thread_take_tls(w->main_thread, fds[0]);
		answering_threads_give_tls(&w->threads, fds[0]);
		return true;
	}
	for (uint32_t i = 0; i < order->fd_count; i++)
		(void)close(fds[i]);
	return order->kind != CONTROL_STOP;
}

/*
 * The old files were renamed, and logrotate may compress them: what is written
 * there then is lost.  Another worker begins with the new ones.
 */
static void
end_for_files(void)
{
	log_error("no descriptor is left for another audit file: raise "
	    "LimitNOFILE");
	_exit(WORKER_FAILED);
}

/* Returns at CONTROL_STOP; ends the process if the supervisor is gone. */
static void
take_orders(struct worker *w)
{
	struct status_worker *slot = &w->handover->status->workers[0];
	struct control_message order = { .kind = CONTROL_KINDS };
	int fds[CONTROL_MAX_FDS];

	for (;;) {
		bool ordered;
		int error;

		main_thread_round(w->main_thread, &ordered);
		atomic_store_explicit(&slot->audit_lost, w->audit_lost_before +
		    audit_lost(w->audit), memory_order_relaxed);
		atomic_store_explicit(&w->handover->status->policy->rates_full,
		    rate_full(w->rates), memory_order_relaxed);
		audit_set_unread(w->audit, atomic_load(&slot->unread));
		atomic_store(&slot->unread_told, atomic_load(&slot->unread));
		if (!ordered)
			continue;
		error = control_receive(w->control, &order, fds);
		if (error == -ECONNRESET)
			_exit(WORKER_FAILED);
		if (error == -EMFILE && order.kind == CONTROL_AUDIT_FILES)
			end_for_files();
		if (error == 0 && !obey(w, &order, fds))
			return;
	}
}

int
worker_run(const struct worker_handover *handover)
{
	struct worker w = { .handover = handover,
		.control = handover->control };
	struct control_message ready = { .kind = CONTROL_READY,
		.generation = handover->generation->number };
	int status;

	if (confine(handover) < 0)
		return WORKER_FAILED;
	status = prepare(&w);
	if (status != WORKER_DONE)
		return status;
	ready.names = table_names(w.generation->table);
	ready.octets = table_octets(w.generation->table);
	/* Said before the first packet, which may be its last. */
	reply(&w, &ready);
	answering_threads_begin(&w.threads);
	tell_settings(w.generation);
	take_orders(&w);
	answering_threads_stop(&w.threads);
	main_thread_free(w.main_thread);
	audit_stop(w.audit, AUDIT_FLUSH_MS);
	generation_close(w.generation);
	rate_free(w.rates);
	return WORKER_DONE;
}
