/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reloads that files, table, worker or kernel refuse: all stays as it was. */
#include <signal.h>

#include "tests/unit/nfq/supervisor/reload_bench.h"

TEST(a_worker_that_refuses_keeps_the_old_one)
{
	unsigned int files;

	begin(1);
	files = open_files();
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(ended("so says the worker") && all_is_as_before());
	CHECK(kernel.installed == 0 && open_files() == files);
	/* The number is free again. */
	go_to_swapping(RELOAD_ALL);
	CHECK(s.reload.generation.number == 2);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && s.reload_error[0] == '\0');
	end();
}

static const char *const bypass =
    "capture = { bypass = { users = [ 4711 ]; }; };";

TEST(rules_are_installed_and_undone)
{
	begin(1);
	configure("", bypass);
	go_to_swapping(RELOAD_ALL);
	CHECK(kernel.installed == 1 && kernel.last == &s.reload.set);
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(kernel.installed == 2 && kernel.last == &s.set);
	CHECK(ended("so says the worker") && all_is_as_before());
	/* And if even that cannot be done, it is logged. */
	go_to_swapping(RELOAD_ALL);
	kernel.error = -EPERM;
	answer(CONTROL_GENERATION_BAD, 2);
	CHECK(kernel.installed == 4 && ended("so says the worker"));
	/* A kernel that refuses: the worker hears nothing. */
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(ended("the kernel refuses") && all_is_as_before());
	CHECK(kernel.installed == 5);
	kernel.error = 0;
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && kernel.installed == 6);
	end();
}

TEST(workers_that_die_are_asked_again)
{
	struct generation_files got = GENERATION_FILES_INIT;

	begin(1);
	configure("", bypass);
	reload_worker_replaced(&s, at(0));	/* no reload: nothing is sent */
	CHECK(sent_nothing());
	go_to_swapping(RELOAD_ALL);
	for (int i = 1; i < SWAP_TRIES; i++) {
		reload_worker_replaced(&s, at(i));
		CHECK(sent_generation(&got) && got.number == 2);
		generation_files_close(&got);
	}
	reload_worker_replaced(&s, at(SWAP_TRIES));
	CHECK(ended("5 workers in a row died") && all_is_as_before());
	CHECK(kernel.installed == 2 && kernel.last == &s.set);
	end();
}

/* A child that stands for the worker's process. */
static pid_t
sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	return pid;
}

TEST(a_worker_has_half_a_minute)
{
	struct generation_files got = GENERATION_FILES_INIT;
	int status = 0;

	begin(1);
	go_to_swapping(RELOAD_ALL);
	s.worker.pid = sleeper();
	reload_tick(&s, at(SWAP_MS - 1));
	CHECK(!s.worker.killed);
	reload_tick(&s, at(SWAP_MS));
	CHECK(s.worker.killed);
	CHECK(waitpid(s.worker.pid, &status, 0) == s.worker.pid &&
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	reload_tick(&s, at(SWAP_MS + 1));	/* once is enough */
	/* The next one has a time of its own. */
	s.worker.killed = false;
	s.worker.pid = sleeper();
	reload_worker_replaced(&s, at(SWAP_MS + 2));
	CHECK(sent_generation(&got));
	generation_files_close(&got);
	reload_tick(&s, at(2 * SWAP_MS + 1));
	CHECK(!s.worker.killed);
	worker_process_kill(&s.worker);
	CHECK(waitpid(s.worker.pid, &status, 0) == s.worker.pid);
	s.worker.pid = 0;
	end();
}

int
main(void)
{
	if (!open_directory())
		return 1;
	test_run();
	remove_directory();
	return test_summary();
}
