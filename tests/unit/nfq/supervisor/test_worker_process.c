/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a worker is started and stopped, and what it says: worker_process.h. */
#include <errno.h>

#include "tests/unit/nfq/supervisor/acting_worker.h"

TEST(a_worker_is_told_to_stop)
{
	open_one();
	worker_process_stop(&k, PATIENCE_MS, false);	/* there is none yet */
	start_ready(OBEYS, 0);
	CHECK(k.life.ready && !k.killed);
	worker_process_stop(&k, PATIENCE_MS, false);
	CHECK(k.pid == 0 && !k.killed && kernel.recovered == 1 &&
	    kernel.accepted == 1);
	close_one();
}

TEST(one_that_does_not_stop_is_killed)
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

TEST(the_wait_for_the_first_has_four_ends)
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

TEST(one_that_is_never_ready_is_killed)
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
TEST(a_start_that_fails_is_tried_again)
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

TEST(a_worker_that_talks_nonsense_is_killed)
{
	open_one();
	CHECK(start(TALKS_NONSENSE, 0) == 0);
	CHECK(receive() == -EAGAIN);
	CHECK(k.killed && k.control < 0);
	CHECK(replace(OBEYS, 10) == WORKER_PROCESS_STARTED);
	CHECK(deaths(STATUS_DEATH_FAILED) == 1);
	close_one();
}

TEST(a_worker_that_hangs_up_is_killed)
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

TEST(files_of_the_worker_are_closed)
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

int
main(void)
{
	if (!open_directory()) {
		printf("FAIL test_worker_process: no status page\n");
		return 1;
	}
	test_run();
	remove_directory();
	return test_summary();
}
