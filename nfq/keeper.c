/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/child.h"
#include "nfq/queue.h"
#include "nfq/worker.h"
#include "policy/log.h"

#define QUICK_DEATH_MS	5000	/* sooner than this after its start */
#define FAILURES_PASS	3	/* quick deaths until held packets go on */
#define FAILURES_END	10	/* and until there is no point in another */
#define STUCK_TICKS	2

static int64_t
monotonic_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
close_control(struct keeper *k)
{
	if (k->control >= 0)
		(void)close(k->control);
	k->control = -1;
}

/* The child's side of the fork: never returns. */
static void
run_worker(const struct keeper *k, int control, pid_t supervisor)
{
	const struct worker_handover handover = {
		.config = k->config,
		.queues = k->queues,
		.listeners = k->listeners,
		.opener = k->opener,
		.image = k->image,
		.generation = k->generation,
		.sinks = k->sinks->sinks,
		.sink_count = k->sinks->count,
		.control = control,
		.supervisor = supervisor,
		.status = k->status,
	};

	_exit(worker_run(&handover));
}

int
keeper_start(struct keeper *k)
{
	const pid_t supervisor = getpid();
	int ends[2], error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	k->pid = fork();
	if (k->pid == 0)
		run_worker(k, ends[1], supervisor);
	if (k->pid < 0)
		error = -errno;
	(void)close(ends[1]);
	if (error < 0) {
		k->pid = 0;
		(void)close(ends[0]);
		return error;
	}
	k->control = ends[0];
	k->ready = k->killed = false;
	k->started_ms = monotonic_ms();
	memset(k->stuck, 0, sizeof(k->stuck));
	k->pidfd = pidfd_open(k->pid, 0);
	if (k->pidfd < 0 || fcntl(k->control, F_SETFL, O_NONBLOCK) < 0) {
		error = -errno;
		keeper_stop(k, 0, false);
	}
	return error;
}

void
keeper_kill(struct keeper *k)
{
	k->killed = true;
	if (k->pid > 0)
		(void)kill(k->pid, SIGKILL);
}

int
keeper_receive(struct keeper *k, struct control_message *message)
{
	int fds[AUDIT_MAX_SINKS];
	int error;

	if (k->control < 0)
		return -EAGAIN;
	error = control_receive(k->control, message, fds);
	if (error == 0) {
		/* It has no files to give. */
		for (uint32_t i = 0; i < message->fd_count; i++)
			(void)close(fds[i]);
		if (message->kind == CONTROL_READY)
			k->ready = true;
	} else if (error == -ECONNRESET) {
		/* Dead, or as good as: a worker without orders has no use. */
		close_control(k);
		(void)kill(k->pid, SIGKILL);
	} else if (error != -EAGAIN && error != -EINTR) {
		log_error("the worker says what makes no sense: %s: killing it",
		    strerror(-error));
		close_control(k);
		keeper_kill(k);
	}
	return error == 0 ? 0 : -EAGAIN;
}

/* Reaps; nothing of the worker is left but what it held in the queues. */
static int
bury(struct keeper *k)
{
	int status = 0;

	(void)child_reap(k->pid, &status);
	k->pid = 0;
	if (k->pidfd >= 0)
		(void)close(k->pidfd);
	k->pidfd = -1;
	close_control(k);
	return status;
}

static void
recover_queues(const struct keeper *k, bool accept)
{
	for (unsigned int i = 0; i < k->config->queue.workers; i++) {
		const uint16_t number =
		    (uint16_t)(k->config->queue.number + i);
		const uint32_t last_id =
		    atomic_load(&k->status->workers[i].last_id);
		int error = queue_recover(k->queues[i], number, last_id, accept);

		if (error < 0)
			log_warning("queue %u: cannot put back what the worker "
			    "held: %s", number, strerror(-error));
	}
}

const char *
keeper_last_words(int status)
{
	if (!WIFEXITED(status))
		return "";
	switch (WEXITSTATUS(status)) {
	case WORKER_NO_PRIVILEGE:
		return ": the kernel refuses its verdicts (CAP_NET_ADMIN)";
	case WORKER_BAD_IMAGE:
		return ": it cannot use the table image";
	default:
		return "";
	}
}

/*
 * Whether a death tells something about our code or the packets.  Somebody's
 * kill -9 does not, unless there is never a worker that gets to its work.
 */
static bool
is_failure(const struct keeper *k, int status)
{
	const bool from_outside = WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGKILL && !k->killed;

	return (!from_outside || !k->ready) &&
	    monotonic_ms() - k->started_ms < QUICK_DEATH_MS;
}

int
keeper_replace(struct keeper *k)
{
	char text[CHILD_TEXT];
	int status, error;
	bool accept;

	status = bury(k);
	k->failures = is_failure(k, status) ? k->failures + 1 : 0;
	accept = k->failures >= FAILURES_PASS;
	recover_queues(k, accept || k->failures >= FAILURES_END);
	log_warning("the worker ended with %s%s%s", child_end_text(status, text),
	    keeper_last_words(status), k->failures >= FAILURES_END ? "" :
	    accept ? ": starting another, the packets that it held go on" :
	    ": starting another");
	if (k->failures >= FAILURES_END)
		return -ECANCELED;
	error = keeper_start(k);
	if (error < 0)
		log_error("cannot start a worker: %s", strerror(-error));
	return error;
}

/* Whether the thread of a slot has stood still for too long. */
static bool
is_stuck(struct keeper *k, unsigned int i, bool has_work)
{
	const struct status_worker *slot = &k->status->workers[i];
	const uint64_t batches = atomic_load(&slot->batches);

	if ((atomic_load(&slot->busy) == 0 && !has_work) ||
	    k->stuck[i].batches != batches)
		k->stuck[i].ticks = 0;
	else
		k->stuck[i].ticks++;
	k->stuck[i].batches = batches;
	return k->stuck[i].ticks >= STUCK_TICKS && k->pid > 0 && !k->killed;
}

void
keeper_tick(struct keeper *k, const uint64_t *waiting)
{
	const unsigned int queues = k->config->queue.workers;

	for (unsigned int i = 0; i < queues; i++) {
		if (!is_stuck(k, i, waiting[i] > 0))
			continue;
		log_error("queue %u: the worker is stuck: killing it",
		    k->config->queue.number + i);
		keeper_kill(k);
	}
	if (k->config->capture.tcp && is_stuck(k, queues, false)) {
		log_error("TCP: the worker is stuck: killing it");
		keeper_kill(k);
	}
}

/* Whether the worker is dead within timeout_ms. */
static bool
wait_death(const struct keeper *k, int timeout_ms)
{
	const int64_t deadline = monotonic_ms() + timeout_ms;

	for (;;) {
		struct pollfd wait = { .fd = k->pidfd, .events = POLLIN };
		int64_t left = deadline - monotonic_ms();

		if (poll(&wait, 1, left > 0 ? (int)left : 0) > 0)
			return true;
		if (left <= 0)
			return false;
	}
}

void
keeper_stop(struct keeper *k, int timeout_ms, bool successor)
{
	const struct control_message order = { .kind = CONTROL_STOP };
	int status;

	if (k->pid == 0)
		return;
	if (k->control < 0 || control_send(k->control, &order, NULL, 0) < 0 ||
	    k->pidfd < 0 || !wait_death(k, timeout_ms))
		keeper_kill(k);
	status = bury(k);
	if (!successor &&
	    (WIFSIGNALED(status) || WEXITSTATUS(status) != WORKER_DONE))
		recover_queues(k, true);
}

int
keeper_wait_ready(struct keeper *k, int interrupt, int timeout_ms,
    struct control_message *message, int *wait_status)
{
	const int64_t deadline = monotonic_ms() + timeout_ms;

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = k->control, .events = POLLIN },
			{ .fd = k->pidfd, .events = POLLIN },
			{ .fd = interrupt, .events = POLLIN },
		};
		int64_t left = deadline - monotonic_ms();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(wait, 3, (int)left) <= 0)
			continue;
		if (wait[0].revents != 0 && keeper_receive(k, message) == 0 &&
		    message->kind == CONTROL_READY)
			return 0;
		if (wait[1].revents != 0) {
			*wait_status = bury(k);
			return -ECHILD;
		}
		if (wait[2].revents != 0)
			return -EINTR;
	}
}
