/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that crash or hang, and what becomes of their packets and of those who
 * sent them: worker_death.h.
 */
#include <errno.h>
#include <sys/wait.h>

#include "nfq/supervisor/quarantine.h"
#include "nfq/supervisor/worker_death.h"
#include "tests/unit/nfq/supervisor/acting_worker.h"

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
	atomic_store(&page.workers[2].busy, 1);
	CHECK(look_until(0, 5000) >= LIFE_BLOCKED_MS);
	CHECK(k.hung == 2 && k.hangs == LIFE_BLOCKED);
	CHECK(replace(OBEYS, 5000) == WORKER_PROCESS_STARTED);
	CHECK(kernel.released == 0);
	close_one();
}

int
main(void)
{
	if (!open_directory()) {
		printf("FAIL test_worker_death: no status page\n");
		return 1;
	}
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
	remove_directory();
	return test_summary();
}
