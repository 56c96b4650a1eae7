/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reloads that files, table, worker or kernel refuse: all stays as it was. */
#include <signal.h>

#include "tests/unit/nfq/supervisor/reload_bench.h"

/* What is wrong before the compiler starts, or in it. */
TEST(errors_are_refused_before_anything_changes)
{
	static const struct {
		const char *mesh, *more, *error;
	} cases[] = {
		{ "", "nonsense = 1;", "nonsense" },
		{ "", "capture = { mark_mask = 7; };", "capture.mark_mask" },
		{ "", "audit = ( { path = \"/dev/null/x\"; } );",
		  "/dev/null/x" },
	};
	unsigned int files;

	begin(1);
	files = open_files();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		configure(cases[i].mesh, cases[i].more);
		reload_begin(&s, RELOAD_ALL);
		CHECK(ended(cases[i].error) && all_is_as_before());
		CHECK(strncmp(s.reload_error, "reload refused: ", 16) == 0);
	}
	configure("", "");
	CHECK(unlink(table_path) == 0);
	reload_begin(&s, RELOAD_ALL);
	CHECK(ended(table_path) && all_is_as_before());
	/* Found in the child. */
	write_file(table_path, "x");
	configure("", "");
	write_file(config_path, "run_dir = \"%s\";\nuser = \"65533\";\n"
	    "mesh = { tables = ( { format = \"nds\"; path = \"%s\"; } ); };\n",
	    directory, table_path);
	reload_begin(&s, RELOAD_ALL);
	CHECK(s.reload.phase == RELOAD_COMPILING);
	compile(0);
	CHECK(ended(table_path) && all_is_as_before());
	CHECK(kernel.installed == 0 && open_files() == files);
	end();
}

/* Options of a worker's start: another one has them, or the old ones come back. */
TEST(another_worker_starts_or_the_one_before)
{
	begin(1);
	configure("", "queue = { workers = 3; };");
	kernel.no_worker = -EINVAL;
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(ended("no worker starts") && kernel.replaced == 2);
	CHECK(s.generation.number == 1 && s.config->queue.workers != 3);
	kernel.replaced = 0;
	kernel.no_worker = 0;
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(ended(NULL) && kernel.replaced == 1 && kernel.installed == 0);
	CHECK(s.generation.number == 2 && s.config->queue.workers == 3);
	end();
}

TEST(a_loss_of_names_has_to_last_or_be_forced)
{
	begin(200);
	fill_table(100);
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL));	/* half of them may go */
	fill_table(0);
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(ended("lack 101 of 101 names"));
	go_to_swapping(RELOAD_FORCED);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && !monotime_is_set(s.reload.loss));
	end();
	begin(200);
	fill_table(99);
	reload_begin(&s, RELOAD_TABLES);
	compile(0);
	CHECK(ended("lack 101 of 201 names") && all_is_as_before());
	reload_tick(&s, monotime_now());
	CHECK(s.reload.phase == RELOAD_IDLE);
	s.reload.loss.ns -= LOSS_MS * 1000000L;
	reload_tick(&s, monotime_now());
	CHECK(s.reload.phase == RELOAD_COMPILING);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && !monotime_is_set(s.reload.loss));
	end();
}

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

TEST(a_refusal_stays_until_as_much_succeeds)
{
	begin(1);
	configure("", "nonsense = 1;");
	reload_begin(&s, RELOAD_ALL);
	CHECK(s.reload_refused == RELOAD_ALL && s.reload_error[0] != '\0');
	fill_table(2);
	go_to_swapping(RELOAD_TABLES);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && s.reload_error[0] != '\0');
	configure("", "");
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && s.reload_error[0] == '\0');
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
