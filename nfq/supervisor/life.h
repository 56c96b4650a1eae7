/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the worker's life, and what follows from it: whether it hangs,
 * whether another is to be started after it died, and what happens to
 * the packets that it held.  No system call; time is a parameter.
 */
#ifndef NFDNS_NFQ_SUPERVISOR_LIFE_H
#define NFDNS_NFQ_SUPERVISOR_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/clock.h"
#include "policy/status/status.h"

#define LIFE_LOOK_MS	50	/* how often life_look() is to be called */
#define LIFE_HANG_MS	200	/* without progress: noticed 50 ms later at most */
#define LIFE_HANG_CPU_MS 50	/* and used so much, as no batch ever does */
#define LIFE_BLOCKED_MS	2000	/* without progress and without the CPU; TCP too */
#define LIFE_READY_MS	10000	/* from the start of a worker to its first work */
#define LIFE_START_MS	10000	/* as long as fork(2) fails, before giving up */
#define LIFE_IDLE_PASS	3	/* deaths without progress until packets go on */
#define LIFE_FAILURES	10	/* workers in a row that could not begin */

/* What one thread of the worker shows. */
struct life_signs {
	uint64_t batches;	/* grows when one is finished */
	bool has_work;		/* it is in a batch, or packets wait for it */
	bool stopped;		/* the process is, by SIGSTOP or SIGTSTP */
	int64_t cpu_ms;		/* that the process has used so far */
};

/*
 * What it means that a thread finishes nothing.  One that merely does not get
 * the CPU, because somebody's programs use all of it, must not be taken for one
 * that loops: another worker would not get it either.
 */
enum life_sign {
	LIFE_MOVES,
	LIFE_LOOPS,		/* it uses the CPU, and no packet needs so much */
	LIFE_STOPPED,		/* somebody stopped the process */
	LIFE_BLOCKED,		/* it waits for something, and for too long */
};

struct life_slot {
	uint64_t batches;
	monotime_t since;	/* of this look at the latest it stood still */
	int64_t cpu_ms;		/* used at that look */
};

struct worker_life {
	bool ready;
	monotime_t started;
	monotime_t looked;
	monotime_t starting;	/* since when fork(2) fails; never: it works */
	unsigned int failures;
	unsigned int idle;	/* deaths without blame or progress, in a row */
	struct life_slot slots[STATUS_MAX_SLOTS];
};

/* A worker has been forked. */
void life_begin(struct worker_life *life, monotime_t now);

/* It says that it is at work. */
void life_ready(struct worker_life *life);

/*
 * fork(2) failed, the first time or once more.  True: give up, as the queue
 * holds questions of which nobody waits for an answer any more.
 */
bool life_start_failed(struct worker_life *life, monotime_t now);

/*
 * Begins a look at all threads.  False: the supervisor itself was away so long
 * that it cannot tell who stood still; the look only notes how things are.
 */
bool life_look(struct worker_life *life, monotime_t now);

/*
 * One thread of this look: whether it has had work for limit_ms and finished
 * none.  Before the worker is ready it always moves.
 */
enum life_sign life_check(struct worker_life *life, unsigned int slot,
    const struct life_signs *signs, bool looking, int limit_ms, monotime_t now);

/* It should have been ready long since. */
bool life_is_late(const struct worker_life *life, monotime_t now);

/* How a worker ended. */
struct life_end {
	enum status_death cause;
	bool blamed;		/* a packet is, which is passed */
	bool worked;		/* it had finished a batch */
	bool exited;		/* by itself, having said why */
};

enum life_next {
	LIFE_ANOTHER,		/* start one; it gets all packets again */
	LIFE_ANOTHER_PASSING,	/* but these are passed: nobody knows which it was */
	LIFE_OVER,		/* there is no point in another */
};

/*
 * The worker is dead.  A death with a packet to blame, or by somebody's kill,
 * tells nothing about the next worker, so no number of them ends the daemon:
 * only workers do that, ten in a row, that cannot begin or that end themselves.
 */
enum life_next life_end(struct worker_life *life, const struct life_end *end,
    monotime_t now);

#endif
