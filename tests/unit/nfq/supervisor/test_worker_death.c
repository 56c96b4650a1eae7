/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that crash or hang, and what becomes of their packets: worker_death.h.
 */
#include <errno.h>
#include <sys/wait.h>

#include "nfq/supervisor/worker_death.h"
#include "tests/unit/nfq/supervisor/acting_worker.h"

TEST(a_killed_worker_is_replaced_and_loses_nothing)
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

TEST(what_it_held_at_a_crash_passes)
{
	static struct policy_rule denies = { .action = RULE_REFUSE, .line = 1 };

	open_one();
	start_ready(CRASHES, 0);
	CHECK(replace(CRASHES, 10) == WORKER_PROCESS_STARTED);
	CHECK(kernel.recovered == 1 && kernel.accepted == 1);
	CHECK(deaths(STATUS_DEATH_CRASH) == 1);
	/* Where a rule could deny, it does not. */
	config.policy.rules = &denies;
	config.policy.rule_count = 1;
	kernel.error = -EPERM;		/* a line in the log */
	CHECK(replace(OBEYS, 20) == WORKER_PROCESS_STARTED);
	CHECK(kernel.dropped == 1 && deaths(STATUS_DEATH_CRASH) == 2);
	config.policy.rule_count = 0;
	close_one();
}

/* Five crashes within a minute: the sixth worker starts a second later. */
TEST(one_crash_after_the_other_makes_a_pause)
{
	int64_t ms = 10;

	open_one();
	start_ready(CRASHES, 0);
	for (int n = 1; n < LIFE_CRASHES; n++, ms += 10)
		CHECK(replace(CRASHES, ms) == WORKER_PROCESS_STARTED);
	CHECK(replace(CRASHES, ms) == WORKER_PROCESS_SAME && k.pid == 0);
	CHECK(worker_process_look(&k, at(ms + LIFE_PAUSE_MS - 1)) ==
	    WORKER_PROCESS_SAME);
	CHECK(worker_process_look(&k, at(ms + LIFE_PAUSE_MS)) ==
	    WORKER_PROCESS_STARTED);
	CHECK(deaths(STATUS_DEATH_CRASH) == LIFE_CRASHES);
	close_one();
}

TEST(ten_that_end_themselves_are_the_end)
{
	open_one();
	exit_status = WORKER_BAD_IMAGE;
	CHECK(start(EXITS, 0) == 0);
	for (int n = 1; n < LIFE_FAILURES; n++)
		CHECK(replace(EXITS, n) == WORKER_PROCESS_STARTED);
	CHECK(kernel.accepted == 0);
	CHECK(replace(EXITS, 100) == WORKER_PROCESS_OVER);
	CHECK(kernel.accepted == 1);
	CHECK(deaths(STATUS_DEATH_FAILED) == LIFE_FAILURES && k.pid == 0);
	/* Five lines for the first of them, and one for all others. */
	CHECK(k.talk.said == 5 && k.talk.unsaid == LIFE_FAILURES - 5);
	worker_death_tell_unsaid(&k, at(5000));
	CHECK(k.talk.said == 0 && k.talk.unsaid == 0);
	close_one();
}

TEST(ends_have_words)
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

TEST(a_blocked_worker_is_killed_and_its_packets_pass)
{
	int64_t when;

	open_one();
	start_ready(BLOCKS, 0);
	wait_busy();
	when = look_until(0, 10000);
	CHECK(when >= LIFE_BLOCKED_MS && when <= LIFE_BLOCKED_MS + 100);
	CHECK(k.hangs == LIFE_BLOCKED);
	CHECK(replace(OBEYS, when) == WORKER_PROCESS_STARTED);
	CHECK(kernel.accepted == 1 && deaths(STATUS_DEATH_HANG) == 1);
	CHECK(k.hangs == LIFE_MOVES);
	close_one();
}

/* By the test's time it hangs at once; the CPU that it uses is real. */
TEST(a_looping_worker_is_killed)
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
	CHECK(kernel.accepted == 1);
	close_one();
}

TEST(a_stopped_worker_is_killed_and_loses_nothing)
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
	CHECK(kernel.accepted == 0 && deaths(STATUS_DEATH_HANG) == 1);
	close_one();
}

/* Idle, but packets wait for it. */
TEST(a_worker_that_reads_nothing_hangs)
{
	open_one();
	start_ready(IGNORES, 0);
	CHECK(look_until(0, 5000) == 0);
	kernel.backlog = 1;
	CHECK(look_until(5000, 10000) != 0);
	CHECK(k.hangs == LIFE_BLOCKED);
	close_one();
}

TEST(the_tcp_thread_is_watched_too)
{
	open_one();
	config.capture.tcp = true;
	start_ready(IGNORES, 0);
	atomic_store(&page.workers[2].busy, 1);
	CHECK(look_until(0, 5000) >= LIFE_BLOCKED_MS);
	CHECK(k.hung == 2 && k.hangs == LIFE_BLOCKED);
	CHECK(replace(OBEYS, 5000) == WORKER_PROCESS_STARTED);
	close_one();
}

int
main(void)
{
	if (!open_directory()) {
		printf("FAIL test_worker_death: no status page\n");
		return 1;
	}
	test_run();
	remove_directory();
	return test_summary();
}
