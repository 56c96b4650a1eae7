/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life cycle of the daemon, in order:
 *
 *   signals, run_dir, status page, rules (as values), table, queues, sockets,
 *   TCP listeners and routes, audit files, worker, the canary's rule, the canary
 *   (if there is a socket for it), all rules, ready
 *
 * and the stop in reverse order.  A packet is queued only while a worker can
 * answer it, and the worker ends only after the queue is empty.
 *
 * The exception is a daemon with a successor: it was killed, or SIGQUIT told it
 * to hand over.  The service manager keeps its sockets (fdstore.h), the rules
 * stay in the kernel, and questions wait until the successor reads them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "nfq/process/child.h"
#include "nfq/process/diag_print.h"
#include "nfq/process/notify.h"
#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/parts.h"
#include "nfq/supervisor/worker_process.h"
#include "policy/log.h"
#include "policy/status/metrics.h"
#include "resolver/text/diag.h"

/* The daemon's directory: a lock on a file there says which daemon has it. */

#define RUN_DIR_PID_FILE "nfdnsd.pid"
#define RUN_DIR_LOCK_FILE "nfdnsd.lock"

#define CANARY_MS	2000
#define POLL_MS		1000
#define THREADS_LEAST	4	/* that a reload may always want */

static int
path_of(char path[static PATH_MAX], const char *run_dir, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", run_dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/*
 * A lock of fcntl(2), not flock(2): children do not inherit it, and the kernel
 * tells which process holds it.
 */
static int
lock_file(int fd, pid_t *holder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	if (errno != EACCES && errno != EAGAIN)
		return -errno;
	*holder = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ?
	    lock.l_pid : 0;
	return -EBUSY;
}

/* Whether path still names this file: its last owner may have removed it. */
static bool
is_current(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

static int
write_pid(const char *run_dir)
{
	char path[PATH_MAX], text[24];
	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	int fd, error = path_of(path, run_dir, RUN_DIR_PID_FILE);

	if (error < 0)
		return error;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0 || write(fd, text, (size_t)length) != length)
		error = errno != 0 ? -errno : -EIO;
	(void)close(fd);
	return error;
}

/*
 * An fd that holds the lock, or a negative errno.  Who can open the file for reading
 * can hold a read lock on it, and so keep every daemon out: only its user can.
 */
static int
take_file(const char *path, pid_t *holder)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
		    O_NONBLOCK, 0600);
		int error;

		if (fd < 0)
			return -errno;
		error = lock_file(fd, holder);
		if (error == 0 && !is_current(fd, path)) {
			(void)close(fd);
			continue;
		}
		if (error == 0 && fchmod(fd, 0600) < 0)
			error = -errno;
		if (error < 0) {
			(void)close(fd);
			return error;
		}
		return fd;
	}
}

/*
 * Creates the directory if it does not exist, takes its lock and writes
 * this process's pid.  Returns the lock's descriptor, which must stay open; or
 * a negative errno with an error in diag: -EBUSY, with the other daemon's pid
 * in the error, if another daemon has the directory.
 */
static int
run_dir_take(const char *run_dir, struct diag *diag)
{
	char path[PATH_MAX];
	pid_t holder = 0;
	int error, fd;

	if (mkdir(run_dir, 0755) < 0 && errno != EEXIST)
		fd = -errno;
	else
		fd = path_of(path, run_dir, RUN_DIR_LOCK_FILE);
	if (fd == 0)
		fd = take_file(path, &holder);
	if (fd >= 0 && (error = write_pid(run_dir)) < 0) {
		(void)close(fd);
		fd = error;
	}
	if (fd == -EBUSY)
		diag_add(diag, DIAG_ERROR, NULL, 0, "another nfdnsd (pid %d) "
		    "has run_dir \"%s\": stop it, or give this one another "
		    "run_dir", (int)holder, run_dir);
	else if (fd < 0)
		diag_add(diag, DIAG_ERROR, NULL, 0, "cannot write to run_dir "
		    "\"%s\": %s: make it writable, or change run_dir", run_dir,
		    strerror(-fd));
	return fd;
}

/* Removes both files and closes the lock; -1 is allowed. */
static void
run_dir_leave(const char *run_dir, int fd)
{
	char path[PATH_MAX];

	if (fd < 0)
		return;
	if (path_of(path, run_dir, RUN_DIR_PID_FILE) == 0)
		(void)unlink(path);
	if (path_of(path, run_dir, RUN_DIR_LOCK_FILE) == 0)
		(void)unlink(path);
	(void)close(fd);
}

/* Logs diag, frees it and returns code: the last line of a step. */
static int
fail(struct diag *diag, int code)
{
	diag_log(diag);
	diag_free(diag);
	return code;
}

static int
start_signals(struct supervisor *s)
{
	sigset_t ours;

	(void)signal(SIGPIPE, SIG_IGN);
	/* RLIMIT_FSIZE: write(2) fails instead; the worker inherits this. */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGTERM);
	(void)sigaddset(&ours, SIGINT);
	(void)sigaddset(&ours, SIGHUP);
	(void)sigaddset(&ours, SIGUSR1);
	(void)sigaddset(&ours, SIGUSR2);
	(void)sigaddset(&ours, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &ours, NULL) == 0)
		s->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		s->timer = timerfd_create(CLOCK_MONOTONIC,
		    TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->signals < 0 || s->timer < 0) {
		log_error("cannot set up signals and timer: %s",
		    strerror(errno));
		return EXIT_ERROR;
	}
	return EXIT_OK;
}

/* For as many queue threads as a reload may want; TCP and the main thread. */
static unsigned int
slots_for(const struct config *config)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int threads = config->queue.workers > THREADS_LEAST ?
	    config->queue.workers : THREADS_LEAST;

	if (cpus > (long)threads)
		threads = cpus < CONFIG_MAX_WORKERS ? (unsigned int)cpus :
		    CONFIG_MAX_WORKERS;
	return threads + 2;
}

static int
start_run_dir(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error;

	s->pid_file = run_dir_take(s->config->run_dir, &diag);
	if (s->pid_file < 0)
		return fail(&diag, EXIT_ERROR);
	error = status_create(&s->status, slots_for(s->config));
	if (error < 0) {
		log_error("cannot make the status page: %s", strerror(-error));
		return EXIT_ERROR;
	}
	s->status.supervisor->queue_number = s->config->queue.number;
	s->status.supervisor->queues = s->config->queue.workers;
	s->has_status = true;
	error = clients_open(s);
	if (error == 0)
		return EXIT_OK;
	log_error("cannot listen at %s/" REQUEST_SOCKET ": %s",
	    s->config->run_dir, strerror(-error));
	return EXIT_ERROR;
}

/* Whether a signal asks the starting daemon to stop. */
static bool
is_interrupted(const struct supervisor *s)
{
	struct pollfd wait = { .fd = s->signals, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

/* Takes the predecessor's queue with its packets, else opens a new one. */
static int
take_queue(struct supervisor *s, uint16_t number, struct diag *diag)
{
	int inherited, error, fd;
	char name[FDSTORE_NAME];

	fdstore_queue_name(name, number);
	inherited = fdstore_take(&s->fdstore, name);
	if (inherited < 0)
		return supervisor_open_queue(s, number, diag);
	error = queue_adopt(inherited, number, s->config->queue.maxlen,
	    s->set.fail_open);
	if (error == 0)
		return inherited;
	fd = supervisor_open_queue(s, number, diag);
	/* The inherited socket works, so it is the one that has the queue. */
	if (fd == -EBUSY && error == -ETIMEDOUT) {
		diag_free(diag);
		log_warning("queue %u: keeps the previous daemon's settings: "
		    "the kernel does not confirm queue.maxlen and "
		    "queue.overload", number);
		return inherited;
	}
	log_warning("queue %u: cannot take over the previous daemon's: %s",
	    number, strerror(-error));
	fdstore_forget(name);
	(void)close(inherited);
	return fd;
}

static int
start_queues(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;

	s->queue_number = s->config->queue.number;
	while (s->queue_count < s->config->queue.workers) {
		int fd = take_queue(s, (uint16_t)(s->queue_number +
		    s->queue_count), &diag);

		if (fd < 0)
			return fail(&diag, EXIT_ERROR);
		s->queues[s->queue_count++] = fd;
	}
	return EXIT_OK;
}

static int
start_worker(struct supervisor *s)
{
	struct worker_process *k = &s->worker;

	k->config = s->config;
	k->queues = s->queues;
	k->generation = &s->generation;
	k->listeners = s->listeners;
	k->status = &s->status;
	if (worker_process_open(k) < 0) {
		log_error("out of memory");
		return EXIT_ERROR;
	}
	return supervisor_start_worker(s, s->signals);
}

/* Makes the full rules as values, to find errors of the config first. */
static int
start_ruleset(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error;

	error = ruleset_build(&s->set, s->config, RULES_FULL, &diag);
	if (error == -ENOMEM)
		log_error("out of memory");
	return fail(&diag, error == 0 ? EXIT_OK :
	    error == -EINVAL ? EXIT_INVALID : EXIT_ERROR);
}

static int
open_kernel(struct supervisor *s)
{
	int fd = fdstore_take(&s->fdstore, FDSTORE_RULES);
	int error = fd >= 0 ? rules_kernel_adopt(&s->kernel, fd) :
	    -ENOENT;

	if (error < 0)
		error = rules_kernel_open(&s->kernel);
	if (error < 0)
		log_error("cannot install the rules: %s",
		    rules_kernel_open_error(error));
	return error < 0 ? EXIT_ERROR : EXIT_OK;
}

/* At start and end: installs rules that queue only the canary. */
static int
install_canary(struct supervisor *s, enum rules_stage stage, struct diag *diag)
{
	struct ruleset set;
	int error = supervisor_build_rules(s, &set, s->config, stage, diag);

	if (error == 0) {
		if (stage == RULES_LEAVING)
			zone_leave(s, &set);
		error = rules_kernel_install(s->kernel, &set, &s->features,
		    diag);
		ruleset_free(&set);
	}
	return error;
}

/*
 * Empties a predecessor's queues that the config no longer has: their packets
 * go through the rules again, which now lead to other queues.
 */
static void
empty_queues(struct supervisor *s)
{
	char name[FDSTORE_NAME];
	uint16_t number;
	int fd;

	while ((fd = fdstore_take_queue(&s->fdstore, &number)) >= 0) {
		fdstore_queue_name(name, number);
		if (queue_adopt(fd, number, s->config->queue.maxlen,
		    s->set.fail_open) < 0)
			log_warning("queue %u: packets that waited in it are lost",
			    number);
		fdstore_forget(name);
		(void)close(fd);
	}
}

/*
 * The canary tests the way before any user's question takes it.  With a
 * predecessor, users' questions are queued already, so the full rules come
 * first.
 */
static int
put_rules(struct supervisor *s, struct diag *diag)
{
	int error;

	if (s->has_rules) {
		/* The predecessor's config may have had another zone. */
		error = zone_install(s, !rules_kernel_has_chain(s->kernel,
		    &s->set, CHAIN_VERDICT), diag);
		if (error == 0) {
			empty_queues(s);
			error = canary_ask(s->config, CANARY_MS, diag);
		}
		return error;
	}
	error = install_canary(s, RULES_CANARY, diag);
	s->has_rules = error == 0;
	if (error == 0)
		error = canary_ask(s->config, CANARY_MS, diag);
	if (error < 0)
		return error;
	return zone_install(s, s->set.zone != 0, diag);
}

static int
start_rules(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;

	if (open_kernel(s) != EXIT_OK)
		return EXIT_ERROR;
	s->has_rules = rules_kernel_has_table(s->kernel);
	if (put_rules(s, &diag) < 0)
		return fail(&diag, EXIT_ERROR);
	diag_free(&diag);
	atomic_store(&s->status.supervisor->queue_mode,
	    s->features.native_queue ? STATUS_QUEUE_NATIVE : STATUS_QUEUE_XT);
	log_info("rules installed: %s", s->features.native_queue ?
	    "native queue expression" : "xt NFQUEUE target");
	return EXIT_OK;
}

/* Opens the first generation's files besides its table. */
static int
start_settings(struct supervisor *s)
{
	struct diag diag = DIAG_INIT;
	int error = supervisor_open_settings(s->config, s,
	    &s->generation, &diag);

	supervisor_start_tls(s);
	return fail(&diag, error < 0 ? EXIT_ERROR : EXIT_OK);
}

/* Stores copies with the service manager, which closes all others. */
static void
keep_sockets(struct supervisor *s)
{
	char name[FDSTORE_NAME];
	int error = fdstore_keep(FDSTORE_RULES, rules_kernel_fd(s->kernel));

	for (size_t i = 0; i < s->queue_count && error == 0; i++) {
		fdstore_queue_name(
		    name, (uint16_t)(s->queue_number + i));
		error = fdstore_keep(name, s->queues[i]);
	}
	if (error == 0)
		error = supervisor_keep_listeners(s);
	if (error < 0)
		log_warning("cannot leave the sockets with the service manager:"
		    " %s: a restart loses questions", strerror(-error));
	fdstore_close(&s->fdstore);
}

/* First: a stored copy would keep the queue open without a reader. */
static void
forget_sockets(struct supervisor *s)
{
	char name[FDSTORE_NAME];

	fdstore_forget(FDSTORE_RULES);
	for (size_t i = 0; i < s->queue_count; i++) {
		fdstore_queue_name(
		    name, (uint16_t)(s->queue_number + i));
		fdstore_forget(name);
	}
	for (size_t i = 0; i < STREAM_LISTENERS; i++)
		fdstore_forget(fdstore_listeners[i]);
	fdstore_close(&s->fdstore);
}

static int
start_loop(struct supervisor *s)
{
	const struct control_message installed = { .kind = CONTROL_RULES };
	struct itimerspec tick;

	monitor_start(s, monotime_now());
	tick.it_interval.tv_sec = 0;
	tick.it_interval.tv_nsec = LIFE_LOOK_MS * 1000000L;
	tick.it_value = tick.it_interval;
	if (timerfd_settime(s->timer, 0, &tick, NULL) < 0) {
		log_error("cannot set the timer: %s", strerror(errno));
		return EXIT_ERROR;
	}
	keep_sockets(s);
	s->ready = true;
	/* A worker that is dying is followed by one that finds the rules there. */
	(void)!control_send(s->worker.control, &installed, NULL, 0);
	supervisor_show_state(s);
	(void)notify("READY=1");
	log_notice("ready: queue %u, table generation %llu with %llu names",
	    s->config->queue.number, (unsigned long long)s->generation.number,
	    (unsigned long long)atomic_load(
	    &s->status.supervisor->table_names));
	return EXIT_OK;
}

int
supervisor_start(struct supervisor *s)
{
	static int (*const steps[])(struct supervisor *) = {
	    start_signals,
	    start_run_dir,
	    start_ruleset,
	    supervisor_start_table,
	    start_queues,
	    supervisor_start_listeners,
	    start_settings,
	    start_worker,
	    start_rules,
	    start_loop,
	};

	fdstore_open(&s->fdstore);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int code;

		log_keep_error();
		code = steps[i](s);
		if (code != EXIT_OK) {
			start_error_write(s->config, log_kept_error());
			return code;
		}
		if (is_interrupted(s) && steps[i] != start_loop) {
			log_notice("told to stop before the start was over");
			return EXIT_ERROR;
		}
	}
	start_error_write(s->config, NULL);
	return EXIT_OK;
}

static void
stop_rules(struct supervisor *s)
{
	int error = s->has_rules ? rules_kernel_remove(s->kernel) : 0;

	if (error < 0)
		log_error("cannot remove the rules: %s: nft delete table inet "
		    "nfdns", strerror(-error));
	s->has_rules = false;
	zone_left(s);
	rules_kernel_close(s->kernel);
	s->kernel = NULL;
}

void
supervisor_stop(struct supervisor *s)
{
	if (s->ready)
		(void)notify("STOPPING=1");
	clients_close(s);
	if (s->has_status) {
		reload_cancel(s);
		status_set_state(&s->status, STATUS_STOPPING, NULL);
	}
	canary_close(&s->monitor.canary.canary);
	keep_image_stop(s);
	watch_close(s->watch);
	s->watch = NULL;
	if (!s->hand_over) {
		struct diag diag = DIAG_INIT;

		/*
		 * No new questions are queued.  The base chains stay for now:
		 * the kernel drops queued packets when a base chain is removed.
		 */
		if (s->has_rules && install_canary(s, RULES_LEAVING, &diag) < 0)
			diag_log(&diag);
		diag_free(&diag);
	}
	worker_process_stop(&s->worker, SUPERVISOR_STOP_MS, s->hand_over);
	worker_process_close(&s->worker);
	supervisor_stop_tls(s);
	if (s->hand_over) {
		conntrack_close(s->zone.conntrack);
		rules_kernel_close(s->kernel);
	} else {
		stop_rules(s);
		forget_sockets(s);
	}
	supervisor_stop_stream(s);
	while (s->queue_count > 0)
		(void)close(s->queues[--s->queue_count]);
	generation_files_close(&s->generation);
	ruleset_free(&s->set);
	if (s->has_status) {
		status_close(&s->status);
		metrics_remove(s->config->run_dir);
	}
	run_dir_leave(s->config->run_dir, s->pid_file);
	if (s->timer >= 0)
		(void)close(s->timer);
	if (s->signals >= 0)
		(void)close(s->signals);
	config_free(s->config);
}
