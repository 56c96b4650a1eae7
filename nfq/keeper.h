/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a worker running: starts it, starts another when it dies or gets
 * stuck, with the same sockets and without losing a question.
 */
#ifndef NFDNS_NFQ_KEEPER_H
#define NFDNS_NFQ_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nfq/control.h"
#include "nfq/sinks.h"
#include "policy/config.h"
#include "policy/status.h"

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
	bool ready;
	bool killed;			/* by us, because it was stuck */
	int64_t started_ms;
	unsigned int failures;		/* quick deaths in a row */
	struct {
		uint64_t batches;
		unsigned int ticks;
	} stuck[STATUS_MAX_SLOTS];
};

#define KEEPER_INIT { .image = -1, .pidfd = -1, .control = -1 }

/* Forks a worker; it says CONTROL_READY later.  0 or a negative errno. */
int keeper_start(struct keeper *keeper) __attribute__((warn_unused_result));

/*
 * The next message of the worker: 0 and *message; -EAGAIN when there is none.
 * A worker that speaks nonsense is killed (-EAGAIN too; its death follows).
 */
int keeper_receive(struct keeper *keeper, struct control_message *message)
    __attribute__((warn_unused_result));

/*
 * To be called when pidfd is readable: buries the worker, puts the packets that
 * it held back into the queue and starts the next.  When workers die soon after
 * their start three times in a row, the packets that they held are let go on
 * instead, as one of them may be what they die of.
 * 0, or -ECANCELED after ten in a row, or another negative errno.
 */
int keeper_replace(struct keeper *keeper) __attribute__((warn_unused_result));

/*
 * Once a second: a worker that finishes no batch for two is killed, if it is in
 * one or if packets wait for it ("waiting", one number for each queue).
 */
void keeper_tick(struct keeper *keeper, const uint64_t *waiting);

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
