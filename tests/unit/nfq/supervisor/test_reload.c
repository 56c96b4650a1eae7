/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reloads that arrive, and what is wished for meanwhile. */
#include <sys/stat.h>
#include <time.h>

#include "policy/config/settings.h"
#include "resolver/image/table.h"
#include "tests/unit/nfq/supervisor/reload_bench.h"

/* As the kernel's may: behind the clock for a while after a second has begun. */
time_t
time(time_t *out)
{
	const time_t now = (time_t)realtime_s() - 1;

	if (out != NULL)
		*out = now;
	return now;
}

TEST(tables_that_are_the_same_change_nothing)
{
	begin(2);
	reload_begin(&s, RELOAD_TABLES);
	compile(0);
	CHECK(ended(NULL) && all_is_as_before() && s.watch == NULL);
	/* But a reload of everything always makes a generation. */
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(ended(NULL) && s.generation.number == 2);
	fill_table(3);
	go_to_swapping(RELOAD_TABLES);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && s.generation.number == 3);
	end();
}

/* A push: whatever else has changed on the machine is not looked at. */
TEST(tables_alone_change_nothing_else)
{
	struct generation_files got = GENERATION_FILES_INIT;
	struct generation_files before;
	const struct config *config;
	char more[200];
	struct stat st;

	begin(1);
	(void)snprintf(more, sizeof(more), "audit = ( { path = \"%s\"; } );",
	    audit_path);
	configure("", more);
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	config = s.config;
	before = s.generation;
	kernel.installed = 0;
	CHECK(unlink(audit_path) == 0);
	configure("", "nonsense = 1;");
	fill_table(2);
	reload_begin(&s, RELOAD_TABLES);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING && sent_generation(&got));
	CHECK(got.number == 3 && got.image >= 0 && got.settings == -1 &&
	    got.cache == -1 && got.audit.count == 0);
	generation_files_close(&got);
	/* A worker that dies gets the same from the next. */
	reload_worker_replaced(&s, at(1));
	CHECK(sent_generation(&got) && got.settings == -1);
	generation_files_close(&got);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && s.generation.number == 3);
	CHECK(s.config == config && s.generation.settings == before.settings &&
	    s.generation.image != before.image && s.generation.audit.count == 1
	    && s.generation.audit.files[0].fd == before.audit.files[0].fd);
	CHECK(kernel.installed == 0);
	CHECK(stat(audit_path, &st) < 0);	/* not opened, so not created */
	CHECK(s.config->mesh.sources[0].changed != 0);
	end();
}

TEST(a_worker_that_is_gone_does_not_matter)
{
	begin(1);
	(void)close(worker);
	worker = -1;
	reload_begin(&s, RELOAD_ALL);
	compile(0);
	CHECK(s.reload.phase == RELOAD_SWAPPING && s.reload.tries == 1);
	end();
}

TEST(what_is_wished_for_meanwhile_follows)
{
	begin(1);
	reload_tick(&s, at(0));
	go_to_swapping(RELOAD_ALL);
	reload_tick(&s, at(0));
	reload_begin(&s, RELOAD_ALL);
	reload_begin(&s, RELOAD_TABLES);	/* the smaller is part of it */
	CHECK(s.reload.again == RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	CHECK(s.reload.phase == RELOAD_COMPILING &&
	    s.reload.wish == RELOAD_ALL && s.reload.again == RELOAD_NOTHING);
	reload_tick(&s, at(0));
	compile(0);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(s.generation.number == 3 && ended(NULL));
	end();
}

TEST(a_stop_ends_it_in_every_state)
{
	unsigned int files;

	begin(1);
	files = open_files();
	reload_cancel(&s);			/* idle: nothing to end */
	reload_begin(&s, RELOAD_ALL);
	reload_begin(&s, RELOAD_ALL);
	reload_cancel(&s);
	CHECK(ended("stopping") && open_files() == files);
	go_to_swapping(RELOAD_ALL);
	reload_cancel(&s);
	CHECK(ended("stopping") && open_files() == files);
	CHECK(all_is_as_before());
	end();
}

/* How many audit files the worker was sent alone; -1: none at all. */
static int
sent_audit_files(void)
{
	struct control_message order;
	struct audit_files files;
	int fds[CONTROL_MAX_FDS], count;

	if (control_receive(worker, &order, fds) != 0 ||
	    order.kind != CONTROL_AUDIT_FILES ||
	    audit_files_take(&files, &order, fds) < 0)
		return -1;
	count = (int)files.count;
	audit_files_close(&files);
	return count;
}

/* Somebody renames the audit's file; a reload has opened it before. */
TEST(renamed_audit_files_are_not_brought_back)
{
	struct generation_files got = GENERATION_FILES_INIT;
	char more[200], renamed[100];

	(void)snprintf(more, sizeof(more), "audit = ( { path = \"%s\"; } );",
	    audit_path);
	(void)snprintf(renamed, sizeof(renamed), "%s.1", audit_path);
	begin(1);
	configure("", more);
	go_to_swapping(RELOAD_ALL);
	answer(CONTROL_GENERATION_OK, 2);
	supervisor_reopen_audit_files(&s);	/* no reload: at once */
	CHECK(sent_audit_files() == 1 && sent_audit_files() == -1);
	reload_begin(&s, RELOAD_ALL);
	CHECK(rename(audit_path, renamed) == 0);
	supervisor_reopen_audit_files(&s);	/* at once, and at its end */
	CHECK(sent_audit_files() == 1 && access(audit_path, F_OK) == 0);
	compile(0);
	CHECK(sent_generation(&got));
	generation_files_close(&got);
	answer(CONTROL_GENERATION_OK, 3);
	CHECK(ended(NULL) && sent_audit_files() == 1);
	go_to_swapping(RELOAD_ALL);
	CHECK(unlink(audit_path) == 0);
	supervisor_reopen_audit_files(&s);	/* at its end only */
	CHECK(sent_nothing());
	answer(CONTROL_GENERATION_BAD, 4);
	CHECK(sent_audit_files() == 1 && access(audit_path, F_OK) == 0);
	/* If it cannot be opened, the old file stays in use. */
	CHECK(unlink(audit_path) == 0 && mkdir(audit_path, 0700) == 0);
	supervisor_reopen_audit_files(&s);
	CHECK(sent_nothing() && s.generation.audit.count == 1);
	CHECK(rmdir(audit_path) == 0 && unlink(renamed) == 0);
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
