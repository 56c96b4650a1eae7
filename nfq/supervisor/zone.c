/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The change of conntrack zones when rules are installed and removed.  If a
 * question meets an old entry for its port (rules/conntrack.h), the kernel
 * drops it.  So the old entries are deleted between the last question in the
 * old zone and the first in the new one.  For that moment the worker is
 * stopped: questions wait in the queue, and replies to earlier ones arrive.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

#define STOP_MS		50	/* for the worker's threads to stop */
#define SETTLE_MS	30	/* wait for replies to earlier questions */
#define HOLD_MS		100	/* about the longest that questions wait */
#define WORK_MS		70	/* of CPU time, to delete entries meanwhile */
#define AGAIN_MS	5	/* between looks at entries that wait for replies */
#define PIECE_MS	5	/* the same, later, of every LIFE_LOOK_MS */
#define FIRST_LOOK_MS	1000	/* after the rules; each further one twice as late */
#define LOOKS		5	/* 31 s in all: then entries without reply expire */

/*
 * Only if the worker is ready: before that, it has no PR_SET_PDEATHSIG and
 * would stay stopped for ever if the supervisor died now.
 */
static bool
signal_worker(const struct supervisor *s, int signal)
{
	return s->worker.pid > 0 && s->worker.life.ready &&
	    kill(s->worker.pid, signal) == 0;
}

/*
 * A thread stops when its system call is over.  On a busy machine that may be
 * late, and its verdicts would send questions on among the old entries.
 */
static void
stop_worker(const struct supervisor *s)
{
	const monotime_t end = monotime_add_ms(monotime_now(), STOP_MS);
	siginfo_t stopped = { .si_pid = 0 };

	if (!signal_worker(s, SIGSTOP))
		return;
	/* The kernel tells it when the last thread has stopped. */
	while (waitid(P_PID, (id_t)s->worker.pid, &stopped,
	    WSTOPPED | WNOHANG) == 0 && stopped.si_pid == 0 &&
	    !monotime_is_past(monotime_now(), end))
		(void)poll(NULL, 0, 1);
}

/* Goes on without a sweep: DNS works, but a few questions may be lost. */
static void
give_up(struct supervisor *s, int error)
{
	log_info("old conntrack entries stay until they expire: %s: questions "
	    "from ports that asked before can be lost for 30 seconds",
	    strerror(-error));
	conntrack_close(s->zone.conntrack);
	s->zone.conntrack = NULL;
	s->zone.looks = 0;
	s->zone.sweeping = false;
}

/*
 * Looks again at entries that wait for replies until "end".  0 or a negative
 * errno; -EAGAIN if there are more entries than WORK_MS suffices for.
 */
static int
sweep_until(struct supervisor *s, enum conntrack_side side, monotime_t end)
{
	struct conntrack *c = s->zone.conntrack;
	size_t deleted = 0;
	int error;

	for (;;) {
		int left;

		error = conntrack_begin(c, side, s->set.zone);
		if (error == 0)
			error = conntrack_step(c, WORK_MS);
		deleted += conntrack_deleted(c);
		left = monotime_poll_timeout(monotime_now(), end);
		if (error != 0 || conntrack_waiting(c) == 0 || left <= AGAIN_MS)
			break;
		(void)poll(NULL, 0, AGAIN_MS);
	}
	log_debug("old conntrack entries: %zu deleted, %zu wait for a reply%s",
	    deleted, conntrack_waiting(c), error == -EAGAIN ? ", more to look "
	    "at" : "");
	return error;
}

/* Sweeps until "end"; zone_tick() does the rest. */
static void
sweep(struct supervisor *s, enum conntrack_side side, monotime_t end)
{
	int error = s->zone.conntrack == NULL ?
	    conntrack_open(&s->zone.conntrack) : 0;

	if (error == 0)
		error = sweep_until(s, side, end);
	s->zone.sweeping = error == -EAGAIN;
	if (error < 0 && error != -EAGAIN)
		give_up(s, error);
}

int
zone_install(struct supervisor *s, bool change, struct diag *diag)
{
	int error;

	if (change)
		stop_worker(s);
	error = rules_kernel_install(s->kernel, &s->set, &s->features, diag);
	if (change && error == 0) {
		const monotime_t now = monotime_now();

		/* In SETTLE_MS the last replies to earlier questions arrive. */
		(void)poll(NULL, 0, SETTLE_MS);
		s->zone.looks = LOOKS;
		s->zone.wait_ms = FIRST_LOOK_MS;
		s->zone.next = monotime_add_ms(now, s->zone.wait_ms);
		sweep(s, CONNTRACK_OUTSIDE, monotime_add_ms(now, HOLD_MS));
	}
	if (change)
		(void)signal_worker(s, SIGCONT);
	return error;
}

void
zone_leave(struct supervisor *s, const struct ruleset *leaving)
{
	const monotime_t now = monotime_now();
	int error;

	if (s->set.zone == 0)
		return;
	stop_worker(s);
	error = rules_kernel_leave_zone(s->kernel, leaving);
	if (error == 0) {
		(void)poll(NULL, 0, SETTLE_MS);
		sweep(s, CONNTRACK_INSIDE, monotime_add_ms(now, HOLD_MS));
	}
	(void)signal_worker(s, SIGCONT);
}

void
zone_left(struct supervisor *s)
{
	if (s->zone.conntrack == NULL)
		return;
	sweep(s, CONNTRACK_INSIDE,
	    monotime_add_ms(monotime_now(), SETTLE_MS));
	conntrack_close(s->zone.conntrack);
	s->zone.conntrack = NULL;
}

void
zone_tick(struct supervisor *s, monotime_t now)
{
	struct supervisor_zone *z = &s->zone;
	int error = 0;

	if (z->conntrack == NULL)
		return;
	if (!z->sweeping && z->looks > 0 && monotime_is_past(now, z->next)) {
		error = conntrack_begin_again(z->conntrack);
		z->sweeping = error == 0;
		z->looks--;
		z->wait_ms *= 2;
		z->next = monotime_add_ms(now, z->wait_ms);
	}
	if (z->sweeping) {
		error = conntrack_step(z->conntrack, PIECE_MS);
		z->sweeping = error == -EAGAIN;
		if (error == 0 && conntrack_waiting(z->conntrack) == 0)
			z->looks = 0;
	}
	if (error < 0 && error != -EAGAIN) {
		give_up(s, error);
	} else if (!z->sweeping && z->looks == 0) {
		conntrack_close(z->conntrack);
		z->conntrack = NULL;
	}
}
