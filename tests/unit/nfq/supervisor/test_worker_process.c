/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The supervisor's side of a worker: worker_process.h and worker_death.h.  The
 * worker is a child that acts as the test says behind a real control socket;
 * time is the test's.  Calls to the kernel's queue are recorded, not made.
 */
#include "nfq/supervisor/worker_process.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/process/exit_code.h"
#include "nfq/queue/queue.h"
#include "nfq/supervisor/quarantine.h"
#include "nfq/supervisor/worker_death.h"
#include "nfq/worker/worker.h"
#include "policy/log.h"
#include "tests/check.h"

#define START		1000000		/* milliseconds */
#define PATIENCE_MS	10000
#define QUEUE		5300
#define PACKET		77
#define USER		1234

/* What the next worker does once it is forked. */
enum act {
	OBEYS,			/* ready; ends when told to stop */
	IGNORES,		/* ready, and deaf to orders */
	SILENT,			/* never ready */
	EXITS,			/* with exit_status */
	CRASHES,		/* while it has a packet in hand */
	CRASHES_IDLE,		/* without one */
	BLOCKS,			/* ready, busy with a packet, waits for ever */
	LOOPS,			/* so, and uses the CPU */
	TALKS_NONSENSE,
	HANGS_UP,		/* closes its end, and lives on */
	GIVES_FILES,		/* with a message of its own */
};

static enum act act;
static int exit_status;
static char run_dir[] = "/tmp/nfdns-worker-XXXXXX";
static struct config config;
static struct status_page page;
static struct generation_files generation = GENERATION_FILES_INIT;
static const int queues[] = { -1 };
static struct worker_process k;

/* What was asked of the kernel's queue since expect_nothing(). */
static struct {
	unsigned int recovered, accepted, released;
	uint32_t released_id;
	int error;		/* that it answers with */
	uint32_t backlog;	/* octets that wait */
} kernel;

int
queue_recover(int fd, uint16_t number, uint32_t last_id, bool accept)
{
	CHECK(fd == queues[0] && number == QUEUE && last_id == 9);
	kernel.recovered++;
	kernel.accepted += accept;
	return kernel.error;
}

int
queue_release(int fd, uint16_t number, uint32_t id)
{
	CHECK(fd == queues[0] && number == QUEUE);
	kernel.released++;
	kernel.released_id = id;
	return kernel.error;
}

int
queue_backlog(int fd, uint32_t *octets, uint32_t *drops)
{
	CHECK(fd == queues[0]);
	*octets = kernel.backlog;
	*drops = 0;
	return kernel.error;
}

static void
say(int control, enum control_kind kind)
{
	const struct control_message message = { .kind = kind };
	const int fds[] = { control };

	if (control_send(control, &message, fds, act == GIVES_FILES) < 0)
		_exit(99);
}

static void
take_packet(const struct worker_handover *h)
{
	struct window_queue *queue = &h->window->queues[0];

	memcpy(queue->received[3], "octets", 6);
	queue->packets[3] = (struct queue_packet){ .id = PACKET, .uid = USER,
		.octets = queue->received[3], .length = 6 };
	window_begin_packet(queue, 3);
	atomic_store(&h->status->workers[0].busy, 1);
}

static void
die_of(const struct worker_handover *h, bool packet)
{
	if (packet)
		take_packet(h);
	(void)signal(SIGABRT, SIG_DFL);
	(void)raise(SIGABRT);
}

/* Until the test ends it; nobody waits for ever if the test died. */
static void
live_on(void)
{
	(void)alarm(60);
	for (;;)
		(void)pause();
}

/* The worker: what the forked child runs. */
int
worker_run(const struct worker_handover *h)
{
	struct control_message order;
	int fds[64];

	switch (act) {
	case EXITS:
		return exit_status;
	case SILENT:
		live_on();
		break;
	case TALKS_NONSENSE:
		(void)!write(h->control, "what?", 5);
		live_on();
		break;
	case HANGS_UP:
		(void)shutdown(h->control, SHUT_RDWR);
		live_on();
		break;
	default:
		break;
	}
	say(h->control, CONTROL_READY);
	if (act == CRASHES || act == CRASHES_IDLE)
		die_of(h, act == CRASHES);
	if (act == BLOCKS || act == LOOPS)
		take_packet(h);
	(void)alarm(60);
	while (act == LOOPS)
		;
	if (act == BLOCKS || act == IGNORES)
		live_on();
	while (control_receive(h->control, &order, fds) != 0 ||
	    order.kind != CONTROL_STOP)
		;
	return WORKER_DONE;
}

static monotime_t
at(int64_t ms)
{
	return monotime_from_ms(START + ms);
}

static void
forget_calls(void)
{
	memset(&kernel, 0, sizeof(kernel));
}

/* A worker_process without a worker. */
static void
open_one(void)
{
	forget_calls();
	config.queue.number = QUEUE;
	config.queue.workers = 1;
	config.capture.tcp = false;
	config.run_dir = run_dir;
	for (size_t i = 0; i < page.worker_slots; i++)
		memset(&page.workers[i], 0, sizeof(page.workers[i]));
	for (size_t i = 0; i < STATUS_DEATHS; i++)
		atomic_store(&page.supervisor->deaths[i], 0);
	atomic_store(&page.workers[0].last_id, 9);
	k = (struct worker_process)WORKER_PROCESS_INIT;
	k.config = &config;
	k.queues = queues;
	k.generation = &generation;
	k.status = &page;
	CHECK(worker_process_open(&k) == 0);
}

static void
close_one(void)
{
	worker_process_kill(&k);
	worker_process_stop(&k, 0, true);
	CHECK(k.pid == 0 && k.pidfd < 0 && k.control < 0);
	worker_process_close(&k);
	worker_process_close(&k);
}

static int
start(enum act a, int64_t ms)
{
	act = a;
	atomic_store(&page.workers[0].busy, 0);
	return worker_process_start(&k, at(ms));
}

/* Starts one and waits until it is at work. */
static void
start_ready(enum act a, int64_t ms)
{
	struct control_message message;
	int status;

	CHECK(start(a, ms) == 0);
	CHECK(worker_process_wait_ready(&k, -1, PATIENCE_MS, &message,
	    &status) == 0);
}

static bool
is_readable(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, ms) > 0;
}

/* The worker has died: what becomes of it.  The next one does "next". */
static enum worker_process_step
replace(enum act next, int64_t ms)
{
	CHECK(is_readable(k.pidfd, PATIENCE_MS));
	act = next;
	atomic_store(&page.workers[0].busy, 0);
	return worker_process_replace(&k, at(ms));
}

/* What of it is at the control socket; its last words may come before READY. */
static int
receive(void)
{
	struct control_message message;
	int error;

	CHECK(is_readable(k.control, PATIENCE_MS));
	error = worker_process_receive(&k, &message);
	return error == 0 ? (int)message.kind : error;
}

static uint64_t
deaths(enum status_death cause)
{
	return atomic_load(&page.supervisor->deaths[cause]);
}

static void
a_worker_is_told_to_stop(void)
{
	open_one();
	worker_process_stop(&k, PATIENCE_MS, false);	/* there is none yet */
	start_ready(OBEYS, 0);
	CHECK(k.life.ready && !k.killed);
	worker_process_stop(&k, PATIENCE_MS, false);
	CHECK(k.pid == 0 && !k.killed && kernel.recovered == 0);
	close_one();
}

static void
one_that_does_not_stop_is_killed(void)
{
	open_one();
	start_ready(IGNORES, 0);
	worker_process_stop(&k, 20, false);
	CHECK(k.pid == 0 && k.killed);
	CHECK(kernel.recovered == 1 && kernel.accepted == 1);
	/* What it held is for the successor, if there is one. */
	start_ready(IGNORES, 0);
	worker_process_stop(&k, 20, true);
	CHECK(k.pid == 0 && kernel.recovered == 1);
	close_one();
}

static void
the_wait_for_the_first_has_four_ends(void)
{
	struct control_message message;
	int pipe_ends[2], status = 0;

	open_one();
	CHECK(pipe(pipe_ends) == 0);
	CHECK(start(SILENT, 0) == 0);
	CHECK(worker_process_wait_ready(&k, pipe_ends[0], 20, &message,
	    &status) == -ETIMEDOUT);
	CHECK(write(pipe_ends[1], "", 1) == 1);
	CHECK(worker_process_wait_ready(&k, pipe_ends[0], PATIENCE_MS, &message,
	    &status) == -EINTR);
	worker_process_stop(&k, 0, true);
	exit_status = WORKER_NO_PRIVILEGE;
	CHECK(start(EXITS, 0) == 0);
	CHECK(worker_process_wait_ready(&k, -1, PATIENCE_MS, &message,
	    &status) == -ECHILD);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == WORKER_NO_PRIVILEGE);
	CHECK(k.pid == 0);
	start_ready(OBEYS, 0);			/* the fourth */
	close_one();
	(void)close(pipe_ends[0]);
	(void)close(pipe_ends[1]);
}

static void
a_killed_worker_is_replaced_and_loses_nothing(void)
{
	open_one();
	start_ready(OBEYS, 0);
	CHECK(kill(k.pid, SIGKILL) == 0);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.recovered == 1 && kernel.accepted == 0);
	CHECK(deaths(STATUS_DEATH_KILLED) == 1 && k.pid > 0);
	CHECK(receive() == CONTROL_READY);
	/* What cannot be put back is a line in the log. */
	kernel.error = -EPERM;
	CHECK(kill(k.pid, SIGKILL) == 0);
	CHECK(replace(OBEYS, 20) == WORKER_PROCESS_STARTED);
	close_one();
}

static void
the_packet_of_a_crash_passes_and_is_kept(void)
{
	char directory[128];

	open_one();
	start_ready(CRASHES, 0);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 1 && kernel.released_id == PACKET);
	CHECK(kernel.recovered == 1 && kernel.accepted == 0);
	CHECK(deaths(STATUS_DEATH_POISON) == 1);
	CHECK(atomic_load(&page.supervisor->poison_packets) == 1);
	(void)snprintf(directory, sizeof(directory), "%s/" QUARANTINE_DIR, run_dir);
	CHECK(access(directory, F_OK) == 0);
	CHECK(!k.has_suspects);
	close_one();
}

static void
neither_release_nor_quarantine_need_work(void)
{
	open_one();
	config.run_dir = (char[]){ "/nowhere" };
	start_ready(CRASHES, 0);
	kernel.error = -EPERM;
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 1 && deaths(STATUS_DEATH_POISON) == 1);
	close_one();
}

static void
a_user_whose_packets_crash_workers_is_a_suspect(void)
{
	open_one();
	start_ready(CRASHES, 0);
	for (int n = 1; n <= SUSPECTS_LIMIT; n++) {
		CHECK(!k.has_suspects);
		CHECK(replace(CRASHES, n) == WORKER_PROCESS_STARTED);
	}
	CHECK(k.has_suspects);
	CHECK(worker_process_look(&k, at(10)) == WORKER_PROCESS_SAME);
	CHECK(atomic_load(&page.supervisor->suspects) == 1);
	close_one();
}

/* The worker's own word of which thread it was counts; so does none. */
static void
another_threads_packet_is_not_blamed(void)
{
	open_one();
	start_ready(CRASHES, 0);
	CHECK(is_readable(k.pidfd, PATIENCE_MS));
	atomic_store(&k.window->fault, WINDOW_FAULT_ELSEWHERE);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 0 && deaths(STATUS_DEATH_FAILED) == 1);
	close_one();
}

static void
after_three_deaths_without_a_culprit_packets_pass(void)
{
	open_one();
	start_ready(CRASHES_IDLE, 0);
	for (unsigned int n = 1; n < LIFE_IDLE_PASS; n++) {
		CHECK(replace(CRASHES_IDLE, n) == WORKER_PROCESS_STARTED);
		CHECK(receive() == CONTROL_READY);
		CHECK(kernel.recovered == n && kernel.accepted == 0);
	}
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.accepted == 1);
	/* Progress ends that. */
	CHECK(receive() == CONTROL_READY);
	atomic_fetch_add(&page.workers[0].batches, 1);
	CHECK(worker_death_batches(&k) == k.batches + 1);
	CHECK(kill(k.pid, SIGSEGV) == 0);
	CHECK(replace(OBEYS, 20) == WORKER_PROCESS_STARTED);
	CHECK(kernel.accepted == 1);
	close_one();
}

static void
ten_that_end_themselves_are_the_end(void)
{
	open_one();
	exit_status = WORKER_BAD_IMAGE;
	CHECK(start(EXITS, 0) == 0);
	for (int n = 1; n < LIFE_FAILURES; n++)
		CHECK(replace(EXITS, n) == WORKER_PROCESS_STARTED);
	CHECK(replace(EXITS, 100) == WORKER_PROCESS_OVER);
	CHECK(deaths(STATUS_DEATH_FAILED) == LIFE_FAILURES && k.pid == 0);
	/* Five lines for the first of them, and one for all others. */
	CHECK(k.talk.said == 5 && k.talk.unsaid == LIFE_FAILURES - 5);
	worker_death_tell_unsaid(&k, at(5000));
	CHECK(k.talk.said == 0 && k.talk.unsaid == 0);
	close_one();
}

static void
ends_have_words(void)
{
	CHECK(strstr(worker_death_text(WORKER_NO_PRIVILEGE << 8),
	    "CAP_NET_ADMIN") != NULL);
	CHECK(strstr(worker_death_text(WORKER_BAD_IMAGE << 8), "image") != NULL);
	CHECK(worker_death_text(WORKER_FAILED << 8)[0] == '\0');
	CHECK(worker_death_text(SIGKILL)[0] == '\0');
}

/* Looks every LIFE_LOOK_MS, from ms on; when the worker was killed, or 0. */
static int64_t
look_until(int64_t ms, int64_t end)
{
	for (; ms < end; ms += LIFE_LOOK_MS) {
		CHECK(worker_process_look(&k, at(ms)) == WORKER_PROCESS_SAME);
		if (k.killed)
			return ms;
	}
	return 0;
}

static void
wait_busy(void)
{
	for (int n = 0; n < PATIENCE_MS &&
	    atomic_load(&page.workers[0].busy) == 0; n++)
		(void)poll(NULL, 0, 1);
}

static void
a_blocked_worker_is_killed_and_its_packet_passes(void)
{
	int64_t when;

	open_one();
	start_ready(BLOCKS, 0);
	wait_busy();
	when = look_until(0, 10000);
	CHECK(when >= LIFE_BLOCKED_MS && when <= LIFE_BLOCKED_MS + 100);
	CHECK(k.hangs == LIFE_BLOCKED && k.held.known && k.held.id == PACKET);
	CHECK(replace(OBEYS, when) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 1 && deaths(STATUS_DEATH_HANG) == 1);
	/* Not the user's: somebody else may have taken the CPU. */
	CHECK(!k.suspects.list[0].used && k.hangs == LIFE_MOVES);
	close_one();
}

/* By the test's time it hangs at once; the CPU that it uses is real. */
static void
a_looping_worker_is_killed_and_its_user_noted(void)
{
	int64_t ms = 0;

	open_one();
	start_ready(LOOPS, 0);
	wait_busy();
	for (int n = 0; n < PATIENCE_MS / 10 && !k.killed; n++) {
		CHECK(worker_process_look(&k, at(ms)) == WORKER_PROCESS_SAME);
		ms += ms < LIFE_HANG_MS ? LIFE_LOOK_MS : 0;
		(void)poll(NULL, 0, 10);
	}
	CHECK(k.hangs == LIFE_LOOPS);
	CHECK(replace(OBEYS, ms) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 1);
	CHECK(k.suspects.list[0].used && k.suspects.list[0].uid == USER);
	close_one();
}

static void
a_stopped_worker_is_killed_and_no_packet_blamed(void)
{
	siginfo_t info;

	open_one();
	start_ready(BLOCKS, 0);
	wait_busy();
	CHECK(kill(k.pid, SIGSTOP) == 0);
	CHECK(waitid(P_PID, (id_t)k.pid, &info, WSTOPPED | WNOWAIT) == 0);
	CHECK(look_until(0, 1000) >= LIFE_HANG_MS);
	CHECK(k.hangs == LIFE_STOPPED);
	CHECK(replace(OBEYS, 1000) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 0 && deaths(STATUS_DEATH_HANG) == 1);
	close_one();
}

/* Idle, but packets wait for it. */
static void
a_worker_that_reads_nothing_hangs(void)
{
	open_one();
	start_ready(IGNORES, 0);
	CHECK(look_until(0, 5000) == 0);
	kernel.backlog = 1;
	CHECK(look_until(5000, 10000) != 0);
	CHECK(k.hangs == LIFE_BLOCKED && !k.held.known);
	close_one();
}

static void
the_tcp_thread_is_watched_too(void)
{
	open_one();
	config.capture.tcp = true;
	start_ready(IGNORES, 0);
	atomic_store(&page.workers[1].busy, 1);
	CHECK(look_until(0, 5000) >= LIFE_BLOCKED_MS);
	CHECK(k.hung == 1 && k.hangs == LIFE_BLOCKED);
	CHECK(replace(OBEYS, 5000) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 0);
	close_one();
}

static void
one_that_is_never_ready_is_killed(void)
{
	int64_t when;

	open_one();
	CHECK(start(SILENT, 0) == 0);
	when = look_until(0, 2 * LIFE_READY_MS);
	CHECK(when == LIFE_READY_MS);
	CHECK(replace(OBEYS, when) == WORKER_PROCESS_STARTED);
	CHECK(deaths(STATUS_DEATH_FAILED) == 1);
	close_one();
}

static void
limit_files(rlim_t limit)
{
	struct rlimit files_limit;

	CHECK(getrlimit(RLIMIT_NOFILE, &files_limit) == 0);
	files_limit.rlim_cur = limit < files_limit.rlim_max ? limit :
	    files_limit.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &files_limit) == 0);
}

/* As when fork(2) fails: nothing is lost, and it is tried for ten seconds. */
static void
a_start_that_fails_is_tried_again(void)
{
	open_one();
	start_ready(OBEYS, 0);
	CHECK(kill(k.pid, SIGKILL) == 0);
	CHECK(is_readable(k.pidfd, PATIENCE_MS));
	limit_files(3);
	CHECK(worker_process_replace(&k, at(10)) == WORKER_PROCESS_SAME);
	CHECK(k.pid == 0);
	CHECK(worker_process_look(&k, at(60)) == WORKER_PROCESS_SAME);
	worker_process_kill(&k);		/* nobody is there */
	limit_files(1024);
	CHECK(worker_process_look(&k, at(110)) == WORKER_PROCESS_STARTED);
	CHECK(receive() == CONTROL_READY);

	CHECK(kill(k.pid, SIGKILL) == 0);
	CHECK(is_readable(k.pidfd, PATIENCE_MS));
	limit_files(3);
	CHECK(worker_process_replace(&k, at(200)) == WORKER_PROCESS_SAME);
	CHECK(worker_process_look(&k, at(199 + LIFE_START_MS)) ==
	    WORKER_PROCESS_SAME);
	CHECK(worker_process_look(&k, at(200 + LIFE_START_MS)) ==
	    WORKER_PROCESS_OVER);
	limit_files(1024);
	close_one();
}

static void
a_worker_that_talks_nonsense_is_killed(void)
{
	open_one();
	CHECK(start(TALKS_NONSENSE, 0) == 0);
	CHECK(receive() == -EAGAIN);
	CHECK(k.killed && k.control < 0);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(deaths(STATUS_DEATH_FAILED) == 1);
	close_one();
}

static void
a_worker_that_hangs_up_is_killed(void)
{
	struct control_message message;

	open_one();
	CHECK(start(HANGS_UP, 0) == 0);
	CHECK(receive() == -EAGAIN);
	CHECK(k.control < 0);
	CHECK(worker_process_receive(&k, &message) == -EAGAIN);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(deaths(STATUS_DEATH_KILLED) == 1);
	close_one();
}

static void
files_of_the_worker_are_closed(void)
{
	int before, after;

	open_one();
	before = dup(0);
	(void)close(before);
	start_ready(GIVES_FILES, 0);
	worker_process_stop(&k, PATIENCE_MS, false);
	after = dup(0);
	(void)close(after);
	CHECK(before == after);
	close_one();
}

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int
main(void)
{
	const struct rlimit no_core = { .rlim_cur = 0 };

	(void)setrlimit(RLIMIT_CORE, &no_core);
	log_set_level(LOG_LEVEL_ERROR);
	if (mkdtemp(run_dir) == NULL || status_create(&page, run_dir, 2) < 0) {
		printf("FAIL test_worker_process: no status page\n");
		return 1;
	}
	TEST(a_worker_is_told_to_stop);
	TEST(one_that_does_not_stop_is_killed);
	TEST(the_wait_for_the_first_has_four_ends);
	TEST(a_killed_worker_is_replaced_and_loses_nothing);
	TEST(the_packet_of_a_crash_passes_and_is_kept);
	TEST(neither_release_nor_quarantine_need_work);
	TEST(a_user_whose_packets_crash_workers_is_a_suspect);
	TEST(another_threads_packet_is_not_blamed);
	TEST(after_three_deaths_without_a_culprit_packets_pass);
	TEST(ten_that_end_themselves_are_the_end);
	TEST(ends_have_words);
	TEST(a_blocked_worker_is_killed_and_its_packet_passes);
	TEST(a_looping_worker_is_killed_and_its_user_noted);
	TEST(a_stopped_worker_is_killed_and_no_packet_blamed);
	TEST(a_worker_that_reads_nothing_hangs);
	TEST(the_tcp_thread_is_watched_too);
	TEST(one_that_is_never_ready_is_killed);
	TEST(a_start_that_fails_is_tried_again);
	TEST(a_worker_that_talks_nonsense_is_killed);
	TEST(a_worker_that_hangs_up_is_killed);
	TEST(files_of_the_worker_are_closed);
	status_remove(&page, run_dir);
	(void)nftw(run_dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return test_summary();
}
