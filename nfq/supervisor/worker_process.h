/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a worker running: starts it, and replaces it when it dies or hangs.
 * The next worker gets the same sockets, and with them what nobody has read.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_PROCESS_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/handover/senders.h"
#include "nfq/handover/control.h"
#include "nfq/supervisor/life.h"
#include "nfq/handover/generation_files.h"
#include "resolver/clock.h"
#include "policy/config/config.h"
#include "policy/status/status.h"

/*
 * The upper part is what a worker starts with: the supervisor sets it and owns
 * all of it.  The lower part describes the worker that runs.
 */
struct worker_process {
	const struct config *config;
	const int *queues;
	const int *listeners;		/* for TCP; -1: it is not taken */
	const int *raw;			/* as in worker_handover */
	struct generation_files *generation;
	struct status_page *status;

	pid_t pid;			/* 0: none */
	int pidfd;			/* readable when it has died */
	int control;
	struct senders *senders;	/* of worker_process_open(), or NULL */
	struct worker_life life;
	monotime_t crashed;		/* when one crashed last; never: none has */
	bool killed;			/* by the supervisor */
	enum life_sign hangs;		/* why, unless LIFE_MOVES */
	unsigned int hung;		/* the slot that hung */
	struct { monotime_t begun; unsigned int said, unsaid; } talk;
};

#define WORKER_PROCESS_INIT                                                    \
	{                                                                      \
		.pidfd = -1, .control = -1                 \
	}

/* Makes what all workers share; set config first.  0 or a negative errno. */
int worker_process_open(struct worker_process *worker)
    __attribute__((warn_unused_result));
/* After worker_process_stop(). */
void worker_process_close(struct worker_process *worker);

/* Forks a worker, which sends CONTROL_READY later.  0 or a negative errno. */
int worker_process_start(struct worker_process *worker, monotime_t now)
    __attribute__((warn_unused_result));

/*
 * Takes the worker's next message: 0 and *message; -EAGAIN if there is none.
 * Kills a worker that sends a malformed message and returns -EAGAIN; its death
 * follows.
 */
int worker_process_receive(struct worker_process *worker,
    struct control_message *message) __attribute__((warn_unused_result));

/* Result of worker_process_replace() and worker_process_look(). */
enum worker_process_step {
	WORKER_PROCESS_SAME,	/* no new worker; there may be none */
	WORKER_PROCESS_STARTED,	/* a new worker was started */
	WORKER_PROCESS_OVER,	/* gave up: life_end(), life_start_failed() */
};

/*
 * Call it if pidfd is readable.  Reaps the worker and starts another as soon as
 * fork(2) works, or later, if too many have crashed.  worker_death_fate() says what
 * becomes of the packets that it had read; those that it had not wait.
 */
enum worker_process_step worker_process_replace(struct worker_process *worker,
    monotime_t now) __attribute__((warn_unused_result));

/*
 * Call it every LIFE_LOOK_MS.  Kills a worker that makes no progress; starts
 * one if that failed before.
 */
enum worker_process_step worker_process_look(struct worker_process *worker,
    monotime_t now) __attribute__((warn_unused_result));

/* Kills a worker that does not obey; another will be started. */
void worker_process_kill(struct worker_process *worker);

/*
 * Makes the worker answer what is queued and end; kills it after timeout_ms.
 * What it held then passes, or stays queued if there is a successor.  Does
 * nothing if there is no worker.
 */
void worker_process_stop(struct worker_process *worker, int timeout_ms,
    bool successor);

/*
 * At the start: waits for CONTROL_READY.  0 and *message; -ECHILD if the worker
 * died (*wait_status); -ETIMEDOUT; -EINTR if "interrupt", a signalfd, became
 * readable.
 */
int worker_process_wait_ready(struct worker_process *worker, int interrupt,
    int timeout_ms, struct control_message *message, int *wait_status)
    __attribute__((warn_unused_result));

#endif
