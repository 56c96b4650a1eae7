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
#include "nfq/handover/generation_files.h"
#include "resolver/clock.h"
#include "policy/config/config.h"
#include "policy/status/status.h"
#include "nfq/queue/queue.h"

/*
 * The state of the worker's life, and the decisions that follow from it:
 * whether the worker hangs, and whether and when another is started after its
 * death.  No system call; time is a parameter.
 */

#define LIFE_LOOK_MS	50	/* how often life_look() is to be called */
#define LIFE_HANG_MS	200	/* without progress: noticed 50 ms later at most */
#define LIFE_HANG_CPU_MS 50	/* and has used so much CPU; no batch needs it */
#define LIFE_VOUCH_MS	75	/* what one look counts at most, however late it is */
#define LIFE_BLOCKED_MS	2000	/* without progress and without the CPU; TCP too */
#define LIFE_READY_MS	10000	/* from the start of a worker to its first work */
#define LIFE_START_MS	10000	/* how long fork(2) may fail before giving up */
#define LIFE_CRASHES	5	/* within so long, and the next one has to wait: */
#define LIFE_CRASHES_MS	60000
#define LIFE_PAUSE_MS	1000
#define LIFE_FAILURES	10	/* workers in a row that could not start */

/* The signs of life of one thread of the worker. */
struct life_signs {
	uint64_t batches;	/* grows when one is finished */
	bool has_work;		/* it is in a batch, or packets wait */
	bool stopped;		/* the process is stopped: SIGSTOP, SIGTSTP */
	int64_t cpu_ms;		/* CPU time of the process so far */
};

/*
 * Why a thread finishes nothing.  A thread that gets no CPU, because other
 * programs use all of it, must not be taken for one that loops: another worker
 * would get no CPU either.
 */
enum life_sign {
	LIFE_MOVES,
	LIFE_LOOPS,		/* it uses the CPU, and no packet needs so much */
	LIFE_STOPPED,		/* a signal stopped the process */
	LIFE_BLOCKED,		/* it has waited too long for something */
};

struct life_slot {
	uint64_t batches;
	int64_t since;		/* the first look at which it stood still; 0: none */
	int64_t cpu_ms;		/* CPU time at that look */
};

struct worker_life {
	bool ready;
	monotime_t started;
	monotime_t looked;
	int64_t watched_ms;	/* a clock that only looks wind; never 0 */
	monotime_t starting;	/* fork(2) fails since then; never: it works */
	unsigned int failures;
	monotime_t crashes[LIFE_CRASHES];	/* the last; never: none */
	unsigned int crash;	/* the oldest of them */
	monotime_t pause;	/* no start before that; never: at once */
	struct life_slot slots[STATUS_MAX_SLOTS];
};

/* A worker has been forked. */
void life_begin(struct worker_life *life, monotime_t now);

/* The worker has said that it is ready. */
void life_ready(struct worker_life *life);

/*
 * fork(2) has failed.  True: it has failed for too long; give up, as no client
 * waits any more for an answer to the questions in the queue.
 */
bool life_start_failed(struct worker_life *life, monotime_t now);

/*
 * Begins a look at all threads.  False: the supervisor itself did not run for
 * so long that it cannot tell which thread stood still; this look only notes
 * the state.  A look that comes later than it should counts LIFE_VOUCH_MS only:
 * a virtual machine whose host takes its CPUs away for a moment sees the time
 * pass, and charges it to whatever program was running.
 */
bool life_look(struct worker_life *life, monotime_t now);

/*
 * Checks one thread in this look: whether it has had work for limit_ms and has
 * finished no batch.  Before the worker is ready, the result is LIFE_MOVES.
 */
enum life_sign life_check(struct worker_life *life, unsigned int slot,
    const struct life_signs *signs, bool looking, int limit_ms);

/* Whether the worker has not become ready in LIFE_READY_MS. */
bool life_is_late(const struct worker_life *life, monotime_t now);

enum life_next {
	LIFE_ANOTHER,		/* start one */
	LIFE_LATER,		/* start one when life_may_start() says so */
	LIFE_OVER,		/* give up */
};

/*
 * The worker is dead; decides what to do.  LIFE_CRASHES crashes or hangs within
 * LIFE_CRASHES_MS make the next worker wait; no number of them ends the daemon,
 * nor do kills from elsewhere, as they say nothing about the next worker.  Ten
 * workers in a row that cannot start, or that soon exit by themselves, do.
 */
enum life_next life_end(struct worker_life *life, enum status_death cause,
    bool exited, monotime_t now);

/* Whether the pause after life_end() is over. */
bool life_may_start(const struct worker_life *life, monotime_t now);

/*
 * The upper part is what a worker starts with: the supervisor sets it and owns
 * all of it.  The lower part describes the worker that runs.
 */
struct worker_process {
	const struct config *config;
	const int *queues;
	const int *listeners;		/* for TCP; -1: it is not taken */
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

/* ": REASON" for a worker that exited by itself, else "". */
const char *worker_death_text(int wait_status);

#endif
