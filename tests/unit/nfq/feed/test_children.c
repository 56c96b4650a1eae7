/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of feeds, as the parent starts, ends and shows them, by a clock
 * of the test's own.  What a process does is the test's, too.
 */
#include "nfq/feed/children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/log.h"
#include "tests/check.h"

static char directory[] = "/tmp/nfdns-children-XXXXXX";
static struct children children;
static int64_t now_ms = 1000000;

static monotime_t
now(void)
{
	return monotime_from_ms(now_ms);
}

/* By the name of its feed: waits to be stopped, dies, or does not listen. */
_Noreturn void
feed_child_become(const struct feeds_config *config,
    const struct feed_config *feed, struct feed_page *page, int stop_fd,
    pid_t parent)
{
	struct pollfd wait = { .fd = stop_fd, .events = POLLIN };

	if (getppid() != parent || config->feed_count == 0)
		_exit(99);
	page->status.connected = true;
	page->status.last_life = 1234;
	page->kept.names = 7;
	atomic_store(&page->changed, true);
	if (strcmp(feed->name, "dies") == 0)
		_exit(3);
	if (strcmp(feed->name, "deaf") == 0)
		for (;;)
			(void)pause();
	(void)poll(&wait, 1, -1);
	_exit(0);
}

/* A configuration of these feeds. */
static struct feeds_config *
config_of(const char *names[], size_t count)
{
	struct feeds_config *config = NULL;
	struct diag diag = DIAG_INIT;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "run_dir = \"%s\"; state_dir = \"%s\"; feeds = (", directory,
	    directory);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s { name = \"%s\"; type = \"kubernetes\"; }",
		    i > 0 ? "," : "", names[i]);
	fputs(" );", out);
	fclose(out);
	CHECK(feed_config_parse(&config, "/test.conf", text, size, &diag) == 0);
	diag_free(&diag);
	free(text);
	return config;
}

static struct feed_child *
find(const char *name)
{
	for (size_t i = 0; i < children.count; i++)
		if (strcmp(children.list[i].name, name) == 0)
			return &children.list[i];
	return NULL;
}

/* Waits for the end of one process. */
static void
take_death(void)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, 0);

	CHECK(pid > 0);
	children_ended(&children, pid, status, now());
}

static void
tick(int64_t ms)
{
	now_ms += ms;
	children_tick(&children, now());
}

/* Until the child has written its page, as a process of its own does. */
static void
wait_changed(const struct feed_child *c)
{
	while (c->page->kept.names != 7)
		(void)poll(NULL, 0, 1);
}

static const char *
status_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s.json", directory, name);
	return path;
}

/* What the tests have left there. */
static void
clean(void)
{
	static const char *const names[] = { "a", "b", "c", "dies", "deaf" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)unlink(status_of(names[i]));
		snprintf(path, sizeof(path), "%s/%s.seen", directory, names[i]);
		(void)unlink(path);
	}
}

static void
a_child_that_dies_starts_later_each_time(void)
{
	struct feeds_config *config = config_of((const char *[]){ "dies" }, 1);
	static const int waits_ms[] = { 1000, 2000, 4000, 8000, 16000, 30000,
		30000 };

	CHECK(children_want(&children, config, false, now()) == 0);
	for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
		tick(0);
		CHECK(find("dies")->pid > 0);
		take_death();
		CHECK(find("dies")->pid == 0);
		CHECK(find("dies")->report.restarts == i + 1);
		CHECK(!find("dies")->page->status.connected);
		tick(waits_ms[i] - 1);
		CHECK(find("dies")->pid == 0);
		CHECK(children_timeout(&children, now()) <= 1000);
		now_ms++;
	}
	/* One that lived for long begins anew. */
	tick(0);
	now_ms += CHILDREN_STEADY_MS;
	take_death();
	tick(999);
	CHECK(find("dies")->pid == 0);
	tick(1);
	CHECK(find("dies")->pid > 0);
	children_stop(&children);
	CHECK(children.count == 0);
	feed_config_free(config);
}

static void
what_stays_the_same_stays(void)
{
	struct feeds_config *two = config_of((const char *[]){ "a", "b" }, 2);
	struct feeds_config *other = config_of((const char *[]){ "b", "c" }, 2);
	pid_t b;

	CHECK(children_want(&children, two, false, now()) == 0);
	tick(0);
	b = find("b")->pid;
	CHECK(b > 0 && find("a")->pid > 0);
	children_report(&children, now());
	CHECK(access(status_of("a"), F_OK) == 0);
	CHECK(children_want(&children, other, false, now()) == 0);
	feed_config_free(two);
	tick(0);
	CHECK(find("b")->pid == b && find("c")->pid > 0);
	/* It was asked to end, and does. */
	take_death();
	CHECK(find("a") == NULL && children.count == 2);
	CHECK(access(status_of("a"), F_OK) < 0);
	CHECK(access(status_of("b"), F_OK) == 0);
	/* All are asked: the next of a name waits for the end of the last. */
	CHECK(children_want(&children, other, true, now()) == 0);
	tick(0);
	CHECK(children.count == 4);
	take_death();
	take_death();
	CHECK(children.count == 2);
	tick(0);
	CHECK(find("b")->pid > 0 && find("b")->pid != b);
	children_stop(&children);
	feed_config_free(other);
}

/* One that waits to be started again is gone at once if it is not wanted. */
static void
the_dead_are_not_kept(void)
{
	struct feeds_config *config = config_of((const char *[]){ "dies" }, 1);
	struct feeds_config *other = config_of((const char *[]){ "a" }, 1);

	CHECK(children_want(&children, config, false, now()) == 0);
	tick(0);
	take_death();
	children_report(&children, now());
	CHECK(access(status_of("dies"), F_OK) == 0);
	CHECK(children_want(&children, other, false, now()) == 0);
	CHECK(children.count == 1 && find("dies") == NULL);
	CHECK(access(status_of("dies"), F_OK) < 0);
	/* However often it is changed meanwhile. */
	for (int i = 0; i < 10; i++)
		CHECK(children_want(&children, config, true, now()) == 0);
	CHECK(children.count == 1);
	children_stop(&children);
	feed_config_free(config);
	feed_config_free(other);
}

/* A time of day that is set back does not make a table current for years. */
static void
what_lies_ahead_is_now(void)
{
	struct feeds_config *config = config_of((const char *[]){ "a" }, 1);
	const int64_t today = (int64_t)time(NULL);

	clean();
	CHECK(children_want(&children, config, false, now()) == 0);
	find("a")->page->status.connected = true;
	find("a")->page->status.last_life = today + 1000000;
	atomic_store(&find("a")->page->changed, true);
	children_report(&children, now());
	CHECK(find("a")->report.current >= today &&
	    find("a")->report.current < today + 1000);
	children_stop(&children);
	feed_config_free(config);
}

static void
who_does_not_listen_is_killed(void)
{
	struct feeds_config *config = config_of((const char *[]){ "deaf" }, 1);
	struct feeds_config *other = config_of((const char *[]){ "a" }, 1);

	CHECK(children_want(&children, config, false, now()) == 0);
	tick(0);
	CHECK(children_want(&children, other, false, now()) == 0);
	tick(CHILDREN_STOP_MS - 1);
	CHECK(kill(find("deaf")->pid, 0) == 0);
	tick(1);
	take_death();
	CHECK(find("deaf") == NULL && find("a")->pid > 0);
	children_stop(&children);
	feed_config_free(config);
	feed_config_free(other);
}

/* Stopped, or in a circle: shown after 20 s, and replaced after a minute. */
static void
item_26_who_is_silent_is_replaced(void)
{
	struct feeds_config *config = config_of((const char *[]){ "a" }, 1);
	pid_t first;

	CHECK(children_want(&children, config, false, now()) == 0);
	tick(0);
	first = find("a")->pid;
	wait_changed(find("a"));
	for (int i = 0; i < 50; i++) {
		atomic_fetch_add(&find("a")->page->ticks, 1);
		tick(2000);
	}
	children_report(&children, now());
	CHECK(find("a")->report.running && find("a")->report.status.connected);
	/* This process itself was stopped: that says nothing of the other. */
	tick(3600000);
	CHECK(kill(first, 0) == 0);
	for (int i = 0; i < 11; i++)
		tick(2000);
	children_report(&children, now());
	CHECK(!find("a")->report.running &&
	    !find("a")->report.status.connected && kill(first, 0) == 0);
	for (int i = 0; i < 20; i++)
		tick(2000);
	take_death();
	tick(CHILDREN_RESTART_MS);
	CHECK(find("a")->pid > 0 && find("a")->pid != first);
	CHECK(find("a")->report.restarts == 1);
	children_stop(&children);
	feed_config_free(config);
}

static void
status_is_written_when_it_changes(void)
{
	struct feeds_config *config = config_of((const char *[]){ "a" }, 1);
	struct feed_report report;
	struct stat st;
	char path[64];

	clean();
	snprintf(path, sizeof(path), "%s", status_of("a"));
	CHECK(children_want(&children, config, false, now()) == 0);
	tick(0);
	wait_changed(find("a"));
	children_report(&children, now());
	CHECK(feed_status_read(&report, directory, "a") == 0);
	CHECK(report.running && report.status.connected &&
	    report.kept.names == 7 && report.current == 1234);
	CHECK(strcmp(report.type, "kubernetes") == 0);
	/* Not twice a second, and not if nothing happens, but every ten. */
	CHECK(unlink(path) == 0);
	atomic_store(&find("a")->page->changed, true);
	now_ms += 999;
	children_report(&children, now());
	CHECK(stat(path, &st) < 0);
	now_ms++;
	children_report(&children, now());
	CHECK(unlink(path) == 0);
	now_ms += FEED_STATUS_BEAT_S * 1000 - 1;
	children_report(&children, now());
	CHECK(stat(path, &st) < 0);
	now_ms++;
	children_report(&children, now());
	CHECK(stat(path, &st) == 0);
	/* For after a reboot. */
	snprintf(path, sizeof(path), "%s/a.seen", directory);
	CHECK(stat(path, &st) == 0 && st.st_mtime == 1234);
	CHECK(unlink(path) == 0);
	children_stop(&children);
	/* The next process goes on with what was known. */
	CHECK(children_want(&children, config, false, now()) == 0);
	CHECK(find("a")->report.current == 1234);
	children_stop(&children);
	feed_config_free(config);
}

int
main(void)
{
	/* No line of the log, since deaths are errors. */
	log_set_level((enum log_level)0);
	CHECK(mkdtemp(directory) != NULL);
	TEST(a_child_that_dies_starts_later_each_time);
	TEST(what_stays_the_same_stays);
	TEST(the_dead_are_not_kept);
	TEST(what_lies_ahead_is_now);
	TEST(who_does_not_listen_is_killed);
	TEST(item_26_who_is_silent_is_replaced);
	TEST(status_is_written_when_it_changes);
	clean();
	CHECK(rmdir(directory) == 0);
	return test_summary();
}
