/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a worker running: starts it, starts another when it dies or gets
 * stuck, with the same sockets and without losing a question.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_WORKER_PROCESS_H
#define NFDNS_NFQ_SUPERVISOR_WORKER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/handover/batch_window.h"
#include "nfq/handover/senders.h"
#include "nfq/handover/control.h"
#include "nfq/supervisor/life.h"
#include "nfq/handover/generation_files.h"
#include "nfq/handover/suspects.h"
#include "resolver/clock.h"
#include "policy/config/config.h"
#include "policy/status/status.h"

/*
 * The upper part is what the next worker is started with: the supervisor sets
 * it and owns all of it.  The lower part is the worker's.
 */
struct worker_process {
	const struct config *config;
	const int *queues;
	const int *listeners;		/* for TCP */
	bool sockets;			/* as in worker_handover */
	const struct generation_files *generation;
	struct status_page *status;

	pid_t pid;			/* 0: none */
	int pidfd;			/* readable when it has died */
	int control;
	struct batch_window
	    *window; /* NULL: worker_process_open() was not called */
	struct senders *senders;	/* so too */
	struct worker_life life;
	struct suspects suspects;
	uint64_t batches;		/* of all threads, when it started */
	bool has_suspects;		/* it was told of some */
	bool killed;			/* by us */
	enum life_sign hangs;		/* why, unless LIFE_MOVES */
	unsigned int hung;		/* this slot did not, with this packet: */
	struct { bool known; uint32_t id; } held;
	struct { monotime_t begun; unsigned int said, unsaid; } talk;
};

#define WORKER_PROCESS_INIT                                                    \
	{                                                                      \
		.pidfd = -1, .control = -1                                     \
	}

/* What all workers need: call once config is set.  0 or a negative errno. */
int worker_process_open(struct worker_process *worker)
    __attribute__((warn_unused_result));
/* After worker_process_stop(). */
void worker_process_close(struct worker_process *worker);

/* Forks a worker; it says CONTROL_READY later.  0 or a negative errno. */
int worker_process_start(struct worker_process *worker, monotime_t now)
    __attribute__((warn_unused_result));

/*
 * The next message of the worker: 0 and *message; -EAGAIN when there is none.
 * A worker that sends a malformed message is killed (-EAGAIN too; its death
 * follows).
 */
int worker_process_receive(struct worker_process *worker,
    struct control_message *message) __attribute__((warn_unused_result));

/* What worker_process_replace() and worker_process_look() have done. */
enum worker_process_step {
	WORKER_PROCESS_SAME,	/* nothing; perhaps there is no worker yet */
	WORKER_PROCESS_STARTED, /* there is a new worker */
	WORKER_PROCESS_OVER,	/* there will be none: life_end(),
				   life_start_failed() */
};

/*
 * To be called when pidfd is readable: reaps the worker and starts another, as
 * soon as fork(2) works.  The packet that the dead one had in hand when it
 * crashed or hung passes, and a copy is kept (quarantine.h); all others that it
 * held come to the next.
 */
enum worker_process_step worker_process_replace(struct worker_process *worker,
    monotime_t now) __attribute__((warn_unused_result));

/*
 * Every LIFE_LOOK_MS: kills a worker that makes no progress, starts one where
 * that failed before.
 */
enum worker_process_step worker_process_look(struct worker_process *worker,
    monotime_t now) __attribute__((warn_unused_result));

/* For a worker that does not do what it is told: another will be started. */
void worker_process_kill(struct worker_process *worker);

/*
 * Has the worker answer what is queued and end; kills it after timeout_ms, and
 * what it held goes on, or stays for a successor.  Without a worker it does
 * nothing.
 */
void worker_process_stop(
    struct worker_process *worker, int timeout_ms, bool successor);

/*
 * For the start: waits for CONTROL_READY.  0 and *message; -ECHILD when the
 * worker died (*wait_status), -ETIMEDOUT, -EINTR when "interrupt" (a signalfd)
 * became readable.
 */
int worker_process_wait_ready(struct worker_process *worker, int interrupt,
    int timeout_ms, struct control_message *message, int *wait_status)
    __attribute__((warn_unused_result));

#endif
