/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker_process whose worker is a child that acts as the test says behind a
 * real control socket; time is the test's.  Calls to the kernel's queue are
 * recorded, not made.
 */
#ifndef NFDNS_TESTS_UNIT_NFQ_SUPERVISOR_ACTING_WORKER_H
#define NFDNS_TESTS_UNIT_NFQ_SUPERVISOR_ACTING_WORKER_H

#include "nfq/supervisor/worker_process.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/worker/worker.h"
#include "policy/log.h"
#include "tests/check.h"

#define START		1000000		/* milliseconds */
#define PATIENCE_MS	10000
#define QUEUE		5300

/* What the next worker does once it is forked. */
enum act {
	OBEYS,			/* ready; ends when told to stop */
	IGNORES,		/* ready, and deaf to orders */
	SILENT,			/* never ready */
	EXITS,			/* with exit_status */
	CRASHES,
	BLOCKS,			/* ready, busy with a packet, waits for ever */
	LOOPS,			/* so, and uses the CPU */
	TALKS_NONSENSE,
	HANGS_UP,		/* closes its end, and lives on */
	GIVES_FILES,		/* with a message of its own */
};

static enum act act;
static int exit_status;
static char run_dir[] = "/tmp/nfdns-worker-XXXXXX";
static struct config config;
static struct status_page page;
static struct generation_files generation = GENERATION_FILES_INIT;
static const int queues[] = { -1, -1 };
static const int listeners[] = { -1, -1 };
static struct worker_process k;

/* What was asked of the kernel's queue since expect_nothing(). */
static struct {
	unsigned int recovered, accepted, dropped;
	int error;		/* that it answers with */
	uint32_t backlog;	/* octets that wait */
} kernel;

int
queue_recover(int fd, uint16_t number, uint32_t last_id, enum queue_fate fate)
{
	CHECK(fd == queues[0] && number >= QUEUE &&
	    last_id == 9);
	kernel.recovered++;
	kernel.accepted += fate == QUEUE_PASS;
	kernel.dropped += fate == QUEUE_DROP;
	return kernel.error;
}

int
queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
{
	CHECK(fd == queues[0]);
	*octets = kernel.backlog;
	*drops = 0;
	return kernel.error;
}

static inline void
say(int control, enum control_kind kind)
{
	const struct control_message message = { .kind = kind };
	const int fds[] = { control };

	if (control_send(control, &message, fds, act == GIVES_FILES) < 0)
		_exit(99);
}

static inline void
take_packet(const struct worker_handover *h)
{
	atomic_store(&h->status->workers[0].busy, 1);
}

static inline void
die_of(const struct worker_handover *h)
{
	take_packet(h);
	(void)signal(SIGABRT, SIG_DFL);
	(void)raise(SIGABRT);
}

/* Until the test ends it; nobody waits for ever if the test died. */
static inline void
live_on(void)
{
	(void)alarm(60);
	for (;;)
		(void)pause();
}

/* The worker: what the forked child runs. */
int
worker_run(const struct worker_handover *h)
{
	struct control_message order;
	int fds[64];

	switch (act) {
	case EXITS:
		return exit_status;
	case SILENT:
		live_on();
		break;
	case TALKS_NONSENSE:
		(void)!write(h->control, "what?", 5);
		live_on();
		break;
	case HANGS_UP:
		(void)shutdown(h->control, SHUT_RDWR);
		live_on();
		break;
	default:
		break;
	}
	say(h->control, CONTROL_READY);
	if (act == CRASHES)
		die_of(h);
	if (act == BLOCKS || act == LOOPS)
		take_packet(h);
	(void)alarm(60);
	while (act == LOOPS)
		;
	if (act == BLOCKS || act == IGNORES)
		live_on();
	while (control_receive(h->control, &order, fds) != 0 ||
	    order.kind != CONTROL_STOP)
		;
	return WORKER_DONE;
}

static inline monotime_t
at(int64_t ms)
{
	return monotime_from_ms(START + ms);
}

static inline void
forget_calls(void)
{
	memset(&kernel, 0, sizeof(kernel));
}

/* A worker_process without a worker. */
static inline void
open_one(void)
{
	forget_calls();
	config.queue.number = QUEUE;
	config.queue.workers = 1;
	config.capture.tcp = false;
	config.run_dir = run_dir;
	for (size_t i = 0; i < page.worker_slots; i++)
		memset(&page.workers[i], 0, sizeof(page.workers[i]));
	for (size_t i = 0; i < STATUS_DEATHS; i++)
		atomic_store(&page.supervisor->deaths[i], 0);
	for (size_t i = 0; i < page.worker_slots; i++)
		atomic_store(&page.workers[i].last_id, 9);
	k = (struct worker_process)WORKER_PROCESS_INIT;
	k.config = &config;
	k.queues = queues;
	k.listeners = listeners;
	k.generation = &generation;
	k.status = &page;
	CHECK(worker_process_open(&k) == 0);
}

static inline void
close_one(void)
{
	worker_process_kill(&k);
	worker_process_stop(&k, 0, true);
	CHECK(k.pid == 0 && k.pidfd < 0 && k.control < 0);
	worker_process_close(&k);
	worker_process_close(&k);
}

static inline int
start(enum act a, int64_t ms)
{
	act = a;
	atomic_store(&page.workers[0].busy, 0);
	return worker_process_start(&k, at(ms));
}

/* Starts one and waits until it is at work. */
static inline void
start_ready(enum act a, int64_t ms)
{
	struct control_message message;
	int status;

	CHECK(start(a, ms) == 0);
	CHECK(worker_process_wait_ready(&k, -1, PATIENCE_MS, &message,
	    &status) == 0);
}

static inline bool
is_readable(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, ms) > 0;
}

/* The worker has died: what becomes of it.  The next one does "next". */
static inline enum worker_process_step
replace(enum act next, int64_t ms)
{
	CHECK(is_readable(k.pidfd, PATIENCE_MS));
	act = next;
	atomic_store(&page.workers[0].busy, 0);
	return worker_process_replace(&k, at(ms));
}

/* What of it is at the control socket; its last words may come before READY. */
static inline int
receive(void)
{
	struct control_message message;
	int error;

	CHECK(is_readable(k.control, PATIENCE_MS));
	error = worker_process_receive(&k, &message);
	return error == 0 ? (int)message.kind : error;
}

static inline uint64_t
deaths(enum status_death cause)
{
	return atomic_load(&page.supervisor->deaths[cause]);
}

/* Looks every LIFE_LOOK_MS, from ms on; when the worker was killed, or 0. */
static inline int64_t
look_until(int64_t ms, int64_t end)
{
	for (; ms < end; ms += LIFE_LOOK_MS) {
		CHECK(worker_process_look(&k, at(ms)) == WORKER_PROCESS_SAME);
		if (k.killed)
			return ms;
	}
	return 0;
}

static inline int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Before the first test, and after the last.  False: there is no status page. */
static inline bool
open_directory(void)
{
	const struct rlimit no_core = { .rlim_cur = 0 };

	(void)setrlimit(RLIMIT_CORE, &no_core);
	log_set_level(LOG_LEVEL_ERROR);
	return mkdtemp(run_dir) != NULL && status_create(&page, 3) == 0;
}

static inline void
remove_directory(void)
{
	status_close(&page);
	(void)nftw(run_dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
