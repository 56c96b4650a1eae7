/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/supervisor/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cache/cache_memory.h"
#include "nfq/process/child.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/audit_files.h"
#include "nfq/worker/worker.h"
#include "policy/log.h"
#include "rules/ruleset.h"

#define TERM_MS	60000	/* between two crashes that make us distrust */

/* wait_status is that of waitpid(2). */
static enum status_death
worker_death_cause(const struct worker_process *k, int wait_status)
{
	if (k->hangs != LIFE_MOVES)
		return STATUS_DEATH_HANG;
	if (!WIFSIGNALED(wait_status) || k->killed)
		return STATUS_DEATH_FAILED;
	return WTERMSIG(wait_status) == SIGKILL ? STATUS_DEATH_KILLED :
	    STATUS_DEATH_CRASH;
}

/*
 * What becomes of the packets that the dead worker had read.  One of them may be
 * to blame for a crash or a hang, so no other worker gets them: they pass, or are
 * dropped if a rule could deny; so they do if no other worker comes.  Else they
 * are put back.
 */
static enum queue_fate
worker_death_fate(const struct worker_process *k, enum status_death cause,
    enum life_next next)
{
	/* No packet stops a process. */
	if (next != LIFE_OVER && cause != STATUS_DEATH_CRASH &&
	    (cause != STATUS_DEATH_HANG || k->hangs == LIFE_STOPPED))
		return QUEUE_REPEAT;
	return policy_could_deny(&k->config->policy) ? QUEUE_DROP : QUEUE_PASS;
}

/*
 * Whether what the dead worker wrote must not reach the next one: a system call
 * that is forbidden, or the second crash within so long, may be the work of somebody
 * who had taken it over.
 */
static bool
worker_death_distrusts(struct worker_process *k, int wait_status,
    monotime_t now)
{
	const monotime_t before = k->crashed;

	/* SIGKILL is what people, the OOM killer and the supervisor send. */
	if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) == SIGKILL)
		return false;
	k->crashed = now;
	return WTERMSIG(wait_status) == SIGSYS || (monotime_is_set(before) &&
	    monotime_ms_since(now, before) < TERM_MS);
}

const char *
worker_death_text(int status)
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

static void
worker_death_tell(const struct worker_process *k, int status, enum queue_fate fate,
    enum life_next next)
{
	static const char *const fates[] = {
		[QUEUE_REPEAT] = "are answered by the next one",
		[QUEUE_PASS] = "pass", [QUEUE_DROP] = "are dropped",
	};
	char text[CHILD_TEXT];

	log_warning("the worker %s %s%s: the packets that it held %s",
	    k->hangs != LIFE_MOVES ? "hung, ended with" : "ended with",
	    child_end_text(status, text), worker_death_text(status), fates[fate]);
	if (next == LIFE_LATER)
		log_error("%d workers have crashed within a minute: the next one "
		    "starts in %d s, and questions wait for it: please report "
		    "the bug", LIFE_CRASHES, LIFE_PAUSE_MS / 1000);
}

static void
close_control(struct worker_process *k)
{
	if (k->control >= 0)
		(void)close(k->control);
	k->control = -1;
}

static struct worker_options
options_of(const struct worker_process *k)
{
	const struct config *config = k->config;
	const struct config_capture *capture = &config->capture;

	return (struct worker_options){
	    .uid = config->uid,
	    .gid = config->gid,
	    .queue_number = config->queue.number,
	    .queues = config->queue.workers,
	    .maxlen = config->queue.maxlen,
	    .tcp = k->listeners[0] >= 0,
	    .mark_mask = capture->mark_mask,
	    .mark_passed = capture->mark_passed,
	    .mark_unanswerable = ruleset_unanswerable_mark(config),
	    .mark_answered = capture->mark_answered,
	    .mark_stream = capture->mark_stream,
	    .mark_relay = ruleset_relay_mark(config),
	};
}

/* What the next worker is given; control is its end of the channel. */
static struct worker_handover
handover_of(const struct worker_process *k, int control)
{
	return (struct worker_handover){
	    .options = options_of(k),
	    .queues = k->queues,
	    .listeners = k->listeners,
	    .generation = k->generation,
	    .control = control,
	    .supervisor = getpid(),
	    .status = k->status,
	    .senders = k->senders,
	};
}

/* Reaps the worker; only the packets that it held are left, in the queues. */
static int
reap(struct worker_process *k)
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
recover_queues(const struct worker_process *k, enum queue_fate fate)
{
	for (unsigned int i = 0; i < k->config->queue.workers; i++) {
		const uint16_t number =
		    (uint16_t)(k->config->queue.number + i);
		const uint32_t last_id =
		    atomic_load(&k->status->workers[i].last_id);
		int error = queue_recover(k->queues[i], number, last_id, fate);

		if (error < 0)
			log_warning("queue %u: cannot put back what the worker "
			    "held: %s", number, strerror(-error));
	}
}

int
worker_process_open(struct worker_process *k)
{
	k->senders = senders_new();
	return k->senders == NULL ? -ENOMEM : 0;
}

void
worker_process_close(struct worker_process *k)
{
	senders_free(k->senders);
	k->senders = NULL;
}

void
worker_process_kill(struct worker_process *k)
{
	if (k->pid <= 0)
		return;			/* there is none at the moment */
	k->killed = true;
	(void)kill(k->pid, SIGKILL);
}

int
worker_process_start(struct worker_process *k, monotime_t now)
{
	struct worker_handover handover;
	int ends[2], error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	handover = handover_of(k, ends[1]);
	/* Another worker may have fewer threads. */
	for (size_t i = 0; i < k->status->worker_slots; i++) {
		struct status_worker *slot = &k->status->workers[i];

		atomic_store(&slot->thread, 0);
		atomic_store(&slot->busy, 0);
		atomic_store(&slot->forward[FORWARD_HELD], 0);
	}
	k->pid = fork();
	if (k->pid == 0)
		_exit(worker_run(&handover));
	if (k->pid < 0)
		error = -errno;
	(void)close(ends[1]);
	if (error < 0) {
		k->pid = 0;
		(void)close(ends[0]);
		return error;
	}
	k->control = ends[0];
	k->killed = false;
	k->hangs = LIFE_MOVES;
	life_begin(&k->life, now);
	k->pidfd = pidfd_open(k->pid, 0);
	if (k->pidfd < 0 || fcntl(k->control, F_SETFL, O_NONBLOCK) < 0) {
		error = -errno;
		worker_process_kill(k);
		(void)reap(k);
		recover_queues(k, QUEUE_REPEAT);
	}
	return error;
}

int
worker_process_receive(
    struct worker_process *k, struct control_message *message)
{
	int fds[CONTROL_MAX_FDS];
	int error;

	if (k->control < 0)
		return -EAGAIN;
	error = control_receive(k->control, message, fds);
	if (error == 0) {
		/* A worker sends no files. */
		for (uint32_t i = 0; i < message->fd_count; i++)
			(void)close(fds[i]);
		if (message->kind == CONTROL_READY)
			life_ready(&k->life);
	} else if (error == -ECONNRESET) {
		/* The worker is dead, or useless without its control socket. */
		close_control(k);
		(void)kill(k->pid, SIGKILL);
	} else if (error != -EAGAIN && error != -EINTR) {
		log_error("malformed message from the worker: %s: killing it",
		    strerror(-error));
		close_control(k);
		worker_process_kill(k);
	}
	return error == 0 ? 0 : -EAGAIN;
}

static enum worker_process_step
start_again(struct worker_process *k, monotime_t now)
{
	const monotime_t since = k->life.starting;
	int error = worker_process_start(k, now);

	if (error == 0) {
		if (monotime_is_set(since))
			log_notice("a worker could be started again, after "
			    "%lld ms", (long long)monotime_ms_since(now, since));
		return WORKER_PROCESS_STARTED;
	}
	if (life_start_failed(&k->life, now)) {
		log_error("no worker could be started for %d s: %s",
		    LIFE_START_MS / 1000, strerror(-error));
		return WORKER_PROCESS_OVER;
	}
	if (!monotime_is_set(since))
		log_error("cannot start a worker: %s: questions wait, trying "
		    "again", strerror(-error));
	return WORKER_PROCESS_SAME;
}

/*
 * The next worker gets an empty cache.  If no memory can be had, it gets none and
 * works without, until a reload.
 */
static void
forget_cache(struct worker_process *k)
{
	int *cache = &k->generation->cache;
	int fresh;

	if (*cache < 0)
		return;
	fresh = cache_memory_new(k->config->forward.cache.size);
	(void)close(*cache);
	*cache = fresh < 0 ? -1 : fresh;
	log_warning("the worker may have been taken over: its cache is thrown "
	    "away%s%s", fresh < 0 ? ", there is no memory for another: " : "",
	    fresh < 0 ? strerror(-fresh) : "");
}

enum worker_process_step
worker_process_replace(struct worker_process *k, monotime_t now)
{
	struct control_message last;
	enum status_death cause;
	enum queue_fate fate;
	enum life_next next;
	int status;

	/* CONTROL_READY may be among what it said before its end. */
	while (worker_process_receive(k, &last) == 0)
		continue;
	status = reap(k);
	audit_files_mend(&k->generation->audit, k->config);
	cause = worker_death_cause(k, status);
	atomic_fetch_add(&k->status->supervisor->deaths[cause], 1);
	if (worker_death_distrusts(k, status, now))
		forget_cache(k);
	next = life_end(&k->life, cause, WIFEXITED(status), now);
	fate = worker_death_fate(k, cause, next);
	recover_queues(k, fate);
	worker_death_tell(k, status, fate, next);
	if (next == LIFE_ANOTHER)
		return start_again(k, now);
	return next == LIFE_OVER ? WORKER_PROCESS_OVER : WORKER_PROCESS_SAME;
}

/* CPU time of all threads; 0 if it cannot be read. */
static int64_t
cpu_ms(const struct worker_process *k)
{
	struct timespec used = { .tv_sec = 0 };
	clockid_t clock;

	if (clock_getcpuclockid(k->pid, &clock) == 0)
		(void)clock_gettime(clock, &used);
	return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* Whether a signal stopped the worker.  Does not reap it: WNOWAIT. */
static bool
is_stopped(const struct worker_process *k)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PIDFD, (id_t)k->pidfd, &info, WSTOPPED | WNOHANG |
	    WNOWAIT) == 0 && info.si_pid != 0;
}

/* The signs of a slot's thread; looks for waiting packets only if it is idle. */
static struct life_signs
signs_of(const struct worker_process *k, unsigned int i)
{
	const struct status_worker *slot = &k->status->workers[i];
	struct life_signs signs = {
		.batches = atomic_load(&slot->batches),
		.has_work = atomic_load(&slot->busy) != 0,
		.stopped = is_stopped(k),
		.cpu_ms = cpu_ms(k),
	};
	uint32_t octets, drops;

	if (!signs.has_work && i < k->config->queue.workers &&
	    signs.batches == k->life.slots[i].batches)
		signs.has_work = queue_backlog(k->queues[i], &octets,
		    &drops) == 0 && octets > 0;
	return signs;
}

/* Reads a file of a thread of the worker into text; empty if it may not be seen. */
static void
read_thread_file(const struct worker_process *k, unsigned int slot,
    const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/%s", (int)k->pid,
	    atomic_load(&k->status->workers[slot].thread), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

/*
 * Whether a thread would run if it had a CPU, by "(name) STATE" of proc_pid_stat(5).
 * Other programs, or the host of a virtual machine, keep it from running: another
 * worker would not run sooner.
 */
static bool
waits_for_cpu(const struct worker_process *k, unsigned int slot)
{
	char text[128];
	const char *name_end;

	read_thread_file(k, slot, "stat", text, sizeof(text));
	name_end = strrchr(text, ')');
	return name_end != NULL && strncmp(name_end, ") R", 3) == 0;
}

static void
end_hanging(struct worker_process *k, unsigned int i, enum life_sign sign)
{
	static const char *const texts[] = {
		[LIFE_LOOPS] = "loops",
		[LIFE_STOPPED] = "was stopped by a signal",
		[LIFE_BLOCKED] = "makes no progress",
	};
	char wchan[64];

	/* "0" outside of the kernel, and for those who may not look. */
	read_thread_file(k, i, "wchan", wchan, sizeof(wchan));
	if (wchan[0] == '\0')
		memcpy(wchan, "0", 2);
	if (i < k->config->queue.workers)
		log_error("queue %u: the worker %s (wchan %s): killing it",
		    k->config->queue.number + i, texts[sign], wchan);
	else
		log_error("%s: the worker %s (wchan %s): killing it",
		    i + 1 == k->status->worker_slots ? "forwarding" : "TCP",
		    texts[sign], wchan);
	k->hangs = sign;
	worker_process_kill(k);
}

enum worker_process_step
worker_process_look(struct worker_process *k, monotime_t now)
{
	const unsigned int queues = k->config->queue.workers;
	const unsigned int slots = (unsigned int)k->status->worker_slots;
	const bool looking = life_look(&k->life, now);

	if (k->pid == 0)
		return life_may_start(&k->life, now) ? start_again(k, now) :
		    WORKER_PROCESS_SAME;
	if (!k->killed && life_is_late(&k->life, now)) {
		log_error("the worker is not ready after %d s: killing it",
		    LIFE_READY_MS / 1000);
		worker_process_kill(k);
	}
	for (unsigned int i = 0; i < slots && !k->killed; i++) {
		const struct life_signs signs = signs_of(k, i);
		enum life_sign sign = life_check(&k->life, i, &signs, looking,
		    i < queues ? LIFE_HANG_MS : LIFE_BLOCKED_MS);

		/* A slot that no thread writes is never busy. */
		if (sign != LIFE_MOVES &&
		    (sign != LIFE_BLOCKED || !waits_for_cpu(k, i)))
			end_hanging(k, i, sign);
	}
	return WORKER_PROCESS_SAME;
}

/* Waits for the worker's death; false after timeout_ms. */
static bool
wait_death(const struct worker_process *k, int timeout_ms)
{
	const monotime_t deadline =
	    monotime_add_ms(monotime_now(), timeout_ms);

	for (;;) {
		struct pollfd wait = { .fd = k->pidfd, .events = POLLIN };
		int left = monotime_poll_timeout(monotime_now(), deadline);

		if (poll(&wait, 1, left) > 0)
			return true;
		if (left == 0)
			return false;
	}
}

void
worker_process_stop(struct worker_process *k, int timeout_ms, bool successor)
{
	const struct control_message order = { .kind = CONTROL_STOP };

	if (k->pid == 0)
		return;
	if (k->control < 0 || control_send(k->control, &order, NULL, 0) < 0 ||
	    k->pidfd < 0 || !wait_death(k, timeout_ms))
		worker_process_kill(k);
	(void)reap(k);
	if (!successor)
		recover_queues(k, QUEUE_PASS);
}

int
worker_process_wait_ready(struct worker_process *k, int interrupt,
    int timeout_ms, struct control_message *message, int *wait_status)
{
	const monotime_t deadline =
	    monotime_add_ms(monotime_now(), timeout_ms);

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = k->control, .events = POLLIN },
			{ .fd = k->pidfd, .events = POLLIN },
			{ .fd = interrupt, .events = POLLIN },
		};
		int left = monotime_poll_timeout(monotime_now(), deadline);

		if (left == 0)
			return -ETIMEDOUT;
		if (poll(wait, 3, left) <= 0)
			continue;
		if (wait[0].revents != 0 &&
		    worker_process_receive(k, message) == 0 &&
		    message->kind == CONTROL_READY)
			return 0;
		if (wait[1].revents != 0) {
			*wait_status = reap(k);
			return -ECHILD;
		}
		if (wait[2].revents != 0)
			return -EINTR;
	}
}
