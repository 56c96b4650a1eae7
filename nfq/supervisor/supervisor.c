/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor's loop: signals, the tick, the worker's messages and death,
 * the compiler, the canary.  No step blocks.
 */
#include "nfq/supervisor/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "nfq/process/diag_print.h"
#include "nfq/supervisor/parts.h"
#include "policy/log.h"

static void
stop(struct supervisor *s, int code)
{
	s->stop = true;
	if (s->exit_code == EXIT_OK)
		s->exit_code = code;
}

static void
take_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGHUP:
			reload_begin(s, RELOAD_ALL);
			break;
		case SIGUSR1:
			status_log(&s->status);
			break;
		case SIGUSR2:
			supervisor_reopen_audit_files(s);
			break;
		case SIGQUIT:
			s->hand_over = s->ready && fdstore_is_there();
			log_notice(s->hand_over ? "handing over" : "stopping");
			stop(s, s->hand_over ? EXIT_HANDED_OVER : EXIT_OK);
			break;
		default:
			log_notice("stopping");
			stop(s, EXIT_OK);
			break;
		}
	}
}

static void
take_messages(struct supervisor *s)
{
	struct control_message message = { .kind = CONTROL_KINDS };

	while (worker_process_receive(&s->worker, &message) == 0) {
		switch (message.kind) {
		case CONTROL_READY:
			atomic_store(&s->status.supervisor->worker_pid,
			    (int32_t)s->worker.pid);
			log_debug("worker %d answers", (int)s->worker.pid);
			monitor_worker_ready(s, monotime_now());
			clients_worker_ready(s);
			break;
		case CONTROL_FLUSHED:
			clients_flushed(s, &message);
			break;
		case CONTROL_TLS_WANTED:
			supervisor_give_tls(s, monotime_now());
			break;
		case CONTROL_GENERATION_OK:
		case CONTROL_GENERATION_BAD:
			reload_answered(s, &message);
			break;
		default:
			break;
		}
	}
}

static void
take_step(struct supervisor *s, enum worker_process_step step)
{
	struct status_supervisor *page = s->status.supervisor;

	switch (step) {
	case WORKER_PROCESS_SAME:
		break;
	case WORKER_PROCESS_STARTED:
		atomic_store(&page->restarts, atomic_load(&page->restarts) + 1);
		reload_worker_replaced(s, monotime_now());
		break;
	case WORKER_PROCESS_OVER:
		log_error("no worker stays alive: giving up, DNS works as if "
		    "nfdns were not installed");
		stop(s, EXIT_ERROR);
		break;
	}
}

/*
 * The worker is dead.  The supervisor has the sockets, so questions wait, and
 * it has all that the next worker needs, so they do not wait long.
 */
static void
replace_worker(struct supervisor *s)
{
	atomic_store(&s->status.supervisor->worker_pid, 0);
	take_step(s, worker_process_replace(&s->worker, monotime_now()));
}

/* Bits of watched files. */
static void
take_changes(struct supervisor *s, unsigned int changed)
{
	if ((changed & WATCH_RESOLV) != 0)
		reload_begin(s, monitor_resolv_conf(s));
	/* The same text, read again: users may have other numbers. */
	if ((changed & WATCH_USERS) != 0)
		reload_begin(s, RELOAD_MACHINE);
	if ((changed & (WATCH_TABLES | WATCH_FEEDS)) != 0)
		reload_begin(s, RELOAD_TABLES);
}

static void
take_tick(struct supervisor *s)
{
	const monotime_t now = monotime_now();
	uint64_t ticks;

	if (read(s->timer, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
		return;
	take_step(s, worker_process_look(&s->worker, now));
	reload_tick(s, now);
	reload_begin(s, monitor_tick(s, now));
	zone_tick(s, now);
	supervisor_tick_tls(s);
	if (s->watch != NULL)
		take_changes(s, watch_look(s->watch, now));
	supervisor_pause_tick(s, now);
	clients_tick(s, now);
}

enum { WAIT_DEATH, WAIT_CONTROL, WAIT_SIGNALS, WAIT_TIMER, WAIT_COMPILER,
	WAIT_CANARY, WAIT_DEVICES, WAIT_WATCH, WAIT_CLIENTS,
	WAITS = WAIT_CLIENTS + CLIENTS_FDS };

/* poll(2) ignores descriptors that are -1. */
static void
loop_once(struct supervisor *s)
{
	struct pollfd wait[WAITS] = {
	    [WAIT_DEATH] = {.fd = s->worker.pidfd},
	    [WAIT_CONTROL] = {.fd = s->worker.control},
	    [WAIT_SIGNALS] = {.fd = s->signals},
	    [WAIT_TIMER] = {.fd = s->timer},
	    [WAIT_COMPILER] = {.fd = s->reload.phase == RELOAD_COMPILING
					 ? compiler_fd(s->reload.compiler)
					 : -1},
	    [WAIT_CANARY] = {.fd = s->monitor.canary.canary.fd},
	    [WAIT_DEVICES] = {.fd = s->routes != NULL ? routes_fd(s->routes)
						      : -1},
	    [WAIT_WATCH] = {.fd = s->watch != NULL ? watch_fd(s->watch) : -1},
	};

	for (int i = 0; i < WAIT_CLIENTS; i++)
		wait[i].events = POLLIN;
	clients_poll(&s->clients, wait + WAIT_CLIENTS);
	if (poll(wait, WAITS, -1) < 0)
		return;			/* interrupted: look again */
	/* Messages come first: the worker may have sent some before it died. */
	if (wait[WAIT_CONTROL].revents != 0)
		take_messages(s);
	if (wait[WAIT_DEATH].revents != 0)
		replace_worker(s);
	if (wait[WAIT_CANARY].revents != 0)
		monitor_canary_ready(s, monotime_now());
	if (wait[WAIT_DEVICES].revents != 0) {
		supervisor_watch_routes(s);
		s->monitor.absent.next = MONOTIME_NEVER;	/* at the tick */
	}
	if (wait[WAIT_COMPILER].revents != 0)
		reload_compiler_ready(s, monotime_now());
	/* A reload in the same round may have left none. */
	if (wait[WAIT_WATCH].revents != 0 && s->watch != NULL)
		take_changes(s, watch_feeds(s->watch));
	reload_begin(s, clients_step(s, wait + WAIT_CLIENTS, monotime_now()));
	if (wait[WAIT_TIMER].revents != 0)
		take_tick(s);
	if (wait[WAIT_SIGNALS].revents != 0)
		take_signals(s);
}

int
supervisor_run(struct config *config)
{
	struct supervisor *s = calloc(1, sizeof(*s));
	int code;

	if (s == NULL) {
		log_error("out of memory");
		config_free(config);
		return EXIT_ERROR;
	}
	s->config = config;
	s->pid_file = s->signals = s->timer = -1;
	s->generation = (struct generation_files)GENERATION_FILES_INIT;
	s->worker = (struct worker_process)WORKER_PROCESS_INIT;
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		s->listeners[i] = -1;
	s->reload.generation = (struct generation_files)GENERATION_FILES_INIT;
	s->monitor.canary.canary.fd = -1;
	s->tls.program = -1;
	clients_init(&s->clients);
	s->exit_code = supervisor_start(s);
	s->stop = s->exit_code != EXIT_OK;
	while (!s->stop)
		loop_once(s);
	supervisor_stop(s);
	code = s->exit_code;
	free(s);
	return code;
}
