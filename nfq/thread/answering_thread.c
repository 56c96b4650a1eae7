/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/answering_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AGAIN_NS	200000

static bool
open_rules(struct generation *g, const char **why)
{
	size_t size;
	const uint8_t *octets = table_policy(g->table, &size);

	if (rules_open(&g->rules, octets, size, why) < 0)
		return false;
	g->policy.rules = g->rules;
	return true;
}

struct generation *
generation_open(uint64_t number, int image, int settings,
    const struct generation *before, const char **why)
{
	struct generation *g = calloc(1, sizeof(*g));

	*why = "out of memory";
	if (g == NULL)
		return NULL;
	g->number = number;
	if (settings >= 0 || before == NULL) {
		*why = settings_read(&g->settings, settings);
		forward_settings_place(&g->settings.forward,
		    before != NULL ? &before->settings.forward : NULL);
	} else {
		g->settings = before->settings;
		*why = NULL;
	}
	if (*why == NULL && table_open(&g->table, image, why) == 0 &&
	    open_rules(g, why))
		return g;
	generation_close(g);
	return NULL;
}

void
generation_close(struct generation *g)
{
	if (g == NULL)
		return;
	free(g->policy.counters);
	rules_close(g->rules);
	table_close(g->table);
	free(g);
}

/* Publishes the current generation in in_use, and returns it. */
static const struct generation *
generation_get(generation_place *in_use, generation_place *current)
{
	const struct generation *g;

	do {
		g = atomic_load(current);
		atomic_store(in_use, g);
		/* Replaced in between: the main thread may not have seen ours. */
	} while (g != atomic_load(current));
	return g;
}

void
generation_pause(void)
{
	const struct timespec pause = { 0, LOOK_AGAIN_NS };

	(void)nanosleep(&pause, NULL);
}

/* Waits until the thread that publishes in in_use does not use "old". */
static void
generation_wait(generation_place *in_use, const struct generation *old)
{
	while (atomic_load(in_use) == old)
		generation_pause();
}

/* Only interrupts a system call that waits. */
static void
interrupt(int signal_number)
{
	(void)signal_number;
}

void
answering_threads_init(struct answering_threads *threads,
    const struct generation *generation, struct audit *audit,
    struct status_worker *slots)
{
	const struct sigaction action = { .sa_handler = interrupt };

	(void)sigaction(SIGUSR1, &action, NULL);	/* no SA_RESTART */
	atomic_init(&threads->current, generation);
	atomic_init(&threads->stopping, false);
	threads->audit = audit;
	threads->slots = slots;
	threads->hitters = NULL;
	threads->upstreams = NULL;
	atomic_init(&threads->main_wake, -1);
	atomic_init(&threads->wants_tls, false);
	TAILQ_INIT(&threads->all);
}

void
answering_thread_init(struct answering_thread *t,
    struct answering_threads *threads, unsigned int number)
{
	const struct generation *generation = atomic_load(&threads->current);

	t->threads = threads;
	t->number = number;
	t->slot = &threads->slots[number];
	t->audit = threads->audit;
	atomic_init(&t->tls, -1);
	atomic_store(&t->slot->busy, 0);
	atomic_store(&t->slot->table_generation, generation->number);
}

/* The main thread and the thread itself wait here for each other. */
static void
pass_gate(struct answering_thread *t)
{
	(void)pthread_barrier_wait(&t->gate);
}

static void *
start(void *argument)
{
	struct answering_thread *t = argument;

	atomic_store(&t->slot->thread, (uint32_t)gettid());
	pass_gate(t);			/* it is up */
	pass_gate(t);			/* it may begin */
	t->kind->run(t);
	atomic_store(&t->done, true);
	return NULL;
}

int
answering_thread_start(struct answering_thread *t,
    const struct answering_kind *kind)
{
	int error;

	t->kind = kind;
	error = -pthread_barrier_init(&t->gate, NULL, 2);
	if (error < 0)
		return error;
	error = -pthread_create(&t->id, NULL, start, t);
	if (error < 0) {
		(void)pthread_barrier_destroy(&t->gate);
		return error;
	}
	pass_gate(t);
	TAILQ_INSERT_TAIL(&t->threads->all, t, link);
	return 0;
}

void
answering_threads_begin(struct answering_threads *threads)
{
	struct answering_thread *t;

	TAILQ_FOREACH(t, &threads->all, link)
		pass_gate(t);
}

void
answering_threads_swap(struct answering_threads *threads,
    const struct generation *next)
{
	const struct generation *old = atomic_exchange(&threads->current, next);
	struct answering_thread *t;

	TAILQ_FOREACH(t, &threads->all, link) {
		generation_wait(&t->in_use, old);
		/* An idle thread has answered nothing, but would from this. */
		atomic_store_explicit(&t->slot->table_generation,
		    next->number, memory_order_relaxed);
	}
}

static void
close_channel(int channel)
{
	if (channel >= 0)
		(void)close(channel);
}

void
answering_threads_give_tls(struct answering_threads *threads, int channel)
{
	struct answering_thread *t;

	TAILQ_FOREACH(t, &threads->all, link) {
		close_channel(atomic_exchange(&t->tls,
		    fcntl(channel, F_DUPFD_CLOEXEC, 0)));
		/* What waits for it need not wait for something else. */
		(void)pthread_kill(t->id, SIGUSR1);
	}
	close_channel(channel);
}

/* Ends one thread, which was told to. */
static void
stop(struct answering_thread *t)
{
	/*
	 * A signal that comes between the thread's look at "stopping" and its
	 * system call interrupts nothing, so one is not enough.
	 */
	while (!atomic_load(&t->done)) {
		(void)pthread_kill(t->id, SIGUSR1);
		generation_pause();
	}
	(void)pthread_join(t->id, NULL);
	(void)pthread_barrier_destroy(&t->gate);
	close_channel(t->tls);
	t->kind->free(t);
}

void
answering_threads_stop(struct answering_threads *threads)
{
	struct answering_thread *t;

	atomic_store(&threads->stopping, true);
	while ((t = TAILQ_FIRST(&threads->all)) != NULL) {
		TAILQ_REMOVE(&threads->all, t, link);
		stop(t);
	}
}

/* Its name, which the kernel knows; "" if there is none with that index any more. */
static void
read_name(uint32_t device, char name[static IF_NAMESIZE])
{
	struct ifreq request = { .ifr_ifindex = (int)device };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFNAME, &request) < 0)
		request.ifr_name[0] = '\0';
	memcpy(name, request.ifr_name, IF_NAMESIZE);
	if (fd >= 0)
		(void)close(fd);
}

struct status_interface *
answering_interface(struct answering_thread *t, uint32_t device)
{
	struct status_interfaces *all = &t->slot->interfaces;
	const size_t last = STATUS_INTERFACES - 1;
	char name[IF_NAMESIZE];
	uint32_t is = 0;
	size_t i;

	for (i = 0; i < last; i++) {
		is = atomic_load_explicit(&all->devices[i],
		    memory_order_relaxed);
		if (is == device)
			return &all->of[i];
		if (is == 0)
			break;
	}
	if (i == last)			/* full: no question asks the kernel again */
		return &all->of[last];
	read_name(device, name);
	if (name[0] == '\0')
		return &all->of[last];
	for (i = 0; all->of[i].name[0] != '\0'; i++)
		if (strcmp(all->of[i].name, name) == 0)
			break;
	memcpy(all->of[i].name, name, sizeof(name));
	atomic_store_explicit(&all->devices[i], device, memory_order_release);
	return &all->of[i];
}

void
answering_count_spent(struct answering_thread *t, int64_t ns,
    uint64_t questions)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;
	struct status_worker *slot = t->slot;
	size_t n = 0;

	if (ns < 0 || questions == 0)
		return;
	while (n < STATUS_SPENT - 1 && ns > (int64_t)bounds[n] * 1000)
		n++;
	atomic_store_explicit(&slot->spent[n], atomic_load_explicit(
	    &slot->spent[n], memory_order_relaxed) + questions,
	    memory_order_relaxed);
	atomic_store_explicit(&slot->spent_ns, atomic_load_explicit(
	    &slot->spent_ns, memory_order_relaxed) + (uint64_t)ns * questions,
	    memory_order_relaxed);
}

/* All questions of a batch are answered by one message at its end. */
static void
count_batch(struct answering_thread *t)
{
	struct status_worker *slot = t->slot;

	if (slot->batches % STATUS_SPENT_EACH == 0)
		answering_count_spent(t, monotime_now().ns - t->now.ns,
		    slot->received - t->received_before);
}

void
answering_begin(struct answering_thread *t, monotime_t now)
{
	t->now = now;
	t->received_before = atomic_load_explicit(&t->slot->received,
	    memory_order_relaxed);
	if (t->threads->hitters != NULL)
		t->hitters = hitters_begin(t->threads->hitters, t->number, now);
	t->received_ns = audit_wants(t->audit, VERDICT_ANSWER) ?
	    realtime_ns() : 0;
	/* For the supervisor, should the thread die or hang in this batch. */
	atomic_store_explicit(&t->slot->busy, 1, memory_order_relaxed);
	t->generation = generation_get(&t->in_use, &t->threads->current);
}

void
answering_end(struct answering_thread *t)
{
	struct status_worker *slot = t->slot;

	t->generation = NULL;
	/* The thread no longer uses what generation_get() returned. */
	atomic_store_explicit(&t->in_use, NULL, memory_order_release);
	if (t->recorded)
		audit_wake(t->audit, t->number);
	t->recorded = false;
	count_batch(t);
	answering_count_up(&slot->batches);
	atomic_store_explicit(&slot->busy, 0, memory_order_relaxed);
}
