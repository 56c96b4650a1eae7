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
#include "nfq/supervisor/audit_files.h"
#include "nfq/handover/suspects.h"
#include "policy/config/config.h"
#include "policy/status/status.h"

/*
 * The upper part is what the next worker is started with: the supervisor sets
 * it and owns all of it.  The lower part is the keeper's.
 */
struct keeper {
	const struct config *config;
	const int *queues;
	const int *listeners;		/* for TCP */
	bool opener;			/* as in worker_handover */
	int image;
	uint64_t generation;
	const struct sinks *sinks;
	struct status_page *status;

	pid_t pid;			/* 0: none */
	int pidfd;			/* readable when it has died */
	int control;
	struct batch_window *window;	/* NULL: keeper_open() was not called */
	struct senders *senders;	/* so too */
	struct worker_life life;
	struct suspects suspects;
	uint64_t batches;		/* of all threads, when it started */
	bool has_suspects;		/* it was told of some */
	bool killed;			/* by us */
	enum life_sign hangs;		/* why, unless LIFE_MOVES */
	unsigned int hung;		/* this slot did not, with this packet: */
	struct { bool known; uint32_t id; } held;
	struct { int64_t begun_ms; unsigned int said, unsaid; } talk;
};

#define KEEPER_INIT { .image = -1, .pidfd = -1, .control = -1 }

/* Times are CLOCK_MONOTONIC in milliseconds. */

/* What all workers need: call once config is set.  0 or a negative errno. */
int keeper_open(struct keeper *keeper) __attribute__((warn_unused_result));
/* After keeper_stop(). */
void keeper_close(struct keeper *keeper);

/* Forks a worker; it says CONTROL_READY later.  0 or a negative errno. */
int keeper_start(struct keeper *keeper, int64_t now_ms)
    __attribute__((warn_unused_result));

/*
 * The next message of the worker: 0 and *message; -EAGAIN when there is none.
 * A worker that speaks nonsense is killed (-EAGAIN too; its death follows).
 */
int keeper_receive(struct keeper *keeper, struct control_message *message)
    __attribute__((warn_unused_result));

/* What keeper_replace() and keeper_look() have done. */
enum keeper_step {
	KEEPER_SAME,		/* nothing; perhaps there is no worker yet */
	KEEPER_STARTED,		/* there is a new worker */
	KEEPER_OVER,		/* there will be none: life_end(), life_start_failed() */
};

/*
 * To be called when pidfd is readable: reaps the worker and starts another, as
 * soon as fork(2) works.  The packet that the dead one was judging when it
 * crashed or hung passes, and a copy is kept (quarantine.h); all others that it
 * held come to the next.
 */
enum keeper_step keeper_replace(struct keeper *keeper, int64_t now_ms)
    __attribute__((warn_unused_result));

/*
 * Every LIFE_LOOK_MS: kills a worker that makes no progress, starts one where
 * that failed before.
 */
enum keeper_step keeper_look(struct keeper *keeper, int64_t now_ms)
    __attribute__((warn_unused_result));

/* For a worker that does not do what it is told: another will be started. */
void keeper_kill(struct keeper *keeper);

/*
 * Has the worker judge what is queued and end; kills it after timeout_ms, and
 * what it held goes on, or stays for a successor.  Without a worker it does
 * nothing.
 */
void keeper_stop(struct keeper *keeper, int timeout_ms, bool successor);

/* Why the worker died last, in words, for a start that failed. */
const char *keeper_last_words(int wait_status);

/*
 * For the start: waits for CONTROL_READY.  0 and *message; -ECHILD when the
 * worker died (*wait_status), -ETIMEDOUT, -EINTR when "interrupt" (a signalfd)
 * became readable.
 */
int keeper_wait_ready(struct keeper *keeper, int interrupt, int timeout_ms,
    struct control_message *message, int *wait_status)
    __attribute__((warn_unused_result));

#endif
