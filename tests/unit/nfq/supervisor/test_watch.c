/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfq/supervisor/watch.h"
#include "tests/check.h"
#include "tests/image.h"

/* How long nothing may come of a change before that is a failure. */
#define PATIENCE_MS	20000

static char directory[] = "/tmp/nfdns-test-watch.XXXXXX";

static const char *
path_of(const char *name)
{
	static char paths[4][200];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct watch *
watch_of(const char *name, bool beside)
{
	struct watch *w;

	MUST(watch_open(&w) == 0);
	MUST(watch_add(w, path_of(name), WATCH_TABLES, beside) == 0);
	return w;
}

/* What is reported next; 0 if nothing is for that long. */
static unsigned int
wait_for(struct watch *w, int ms)
{
	struct pollfd wait = { .fd = watch_fd(w), .events = POLLIN };

	while (poll(&wait, 1, ms) > 0) {
		unsigned int changed = watch_next(w, monotime_now());

		if (changed != 0)
			return changed;
	}
	return 0;
}

/*
 * What is reported next to one whose clock stands still: what is not reported at
 * once is not reported at all, however slow the machine is.
 */
static unsigned int
wait_at(struct watch *w, monotime_t now)
{
	struct pollfd wait = { .fd = watch_fd(w), .events = POLLIN };

	while (poll(&wait, 1, PATIENCE_MS) > 0) {
		unsigned int changed = watch_next(w, now);

		if (changed != 0)
			return changed;
	}
	return 0;
}

/* Long enough for anything that would be reported by mistake. */
static bool
nothing_comes(struct watch *w)
{
	return wait_for(w, 2 * WATCH_SETTLE_MS) == 0;
}

TEST(a_file_that_is_replaced)
{
	struct watch *w;

	write_file("f", "one");
	w = watch_of("f", false);
	write_file("f.new", "two");
	CHECK(rename(path_of("f.new"), path_of("f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	CHECK(nothing_comes(w));
	CHECK(unlink(path_of("f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	write_file("f", "three");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
}

/* Renamed whole, so there is nothing to wait for; another table waits still. */
TEST(a_feeds_table_is_reported_at_once)
{
	struct watch *w;
	int fd;

	write_file("other", "one");
	w = watch_of("other", false);
	MUST(watch_add(w, path_of("fed"), WATCH_FEEDS, false) == 0);
	for (int i = 0; i < 3; i++) {
		const monotime_t now = monotime_now();

		write_file("fed.new", "two");
		CHECK(rename(path_of("fed.new"), path_of("fed")) == 0);
		CHECK(wait_at(w, now) == WATCH_FEEDS);
	}
	CHECK(nothing_comes(w));
	fd = open(path_of("other"), O_WRONLY | O_TRUNC);
	MUST(fd >= 0);
	const monotime_t now = monotime_now();

	CHECK(unlink(path_of("fed")) == 0);
	CHECK(wait_at(w, now) == WATCH_FEEDS);
	(void)close(fd);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	CHECK(unlink(path_of("other")) == 0);
	watch_close(w);
}

TEST(a_file_that_is_written_slowly)
{
	struct watch *w;
	int fd;

	write_file("f", "one");
	w = watch_of("f", false);
	fd = open(path_of("f"), O_WRONLY | O_TRUNC);
	MUST(fd >= 0);
	CHECK(nothing_comes(w));
	CHECK(write(fd, "ha", 2) == 2);
	CHECK(nothing_comes(w));
	CHECK(write(fd, "lf", 2) == 2);
	(void)close(fd);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	(void)unlink(path_of("f"));
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	/* One that comes into being the same way. */
	fd = open(path_of("f"), O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	CHECK(nothing_comes(w));
	CHECK(write(fd, "whole", 5) == 5);
	(void)close(fd);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
}

/* Nobody closes what truncate(2) has changed. */
TEST(a_file_that_is_cut)
{
	struct watch *w;

	write_file("f", "one and more");
	w = watch_of("f", false);
	CHECK(truncate(path_of("f"), 3) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	CHECK(nothing_comes(w));
	/* The next change is told as soon as ever. */
	write_file("f.new", "two");
	CHECK(rename(path_of("f.new"), path_of("f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
}

/* Replaced at such a pace that it never settles. */
TEST(a_file_that_is_replaced_all_the_time)
{
	unsigned int changed = 0;
	struct watch *w;

	write_file("f", "one");
	w = watch_of("f", false);
	for (int i = 0; i < PATIENCE_MS / 200 && changed == 0; i++) {
		write_file("f.new", i % 2 == 0 ? "two" : "three");
		CHECK(rename(path_of("f.new"), path_of("f")) == 0);
		changed = wait_for(w, 200);
	}
	CHECK(changed == WATCH_TABLES);
	watch_close(w);
}

TEST(other_files_do_not_matter)
{
	struct watch *w;

	write_file("f", "one");
	w = watch_of("f", false);
	write_file("g", "two");
	CHECK(nothing_comes(w));
	watch_close(w);
	w = watch_of("f", true);
	write_file("g", "three");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("g"));
}

/* As a service does that owns the file behind /etc/resolv.conf. */
TEST(a_link_and_what_it_leads_to)
{
	struct watch *w;

	MUST(symlink("a/f", path_of("link")) == 0);
	w = watch_of("link", false);
	write_file("a/f.new", "three");
	CHECK(rename(path_of("a/f.new"), path_of("a/f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	MUST(symlink("b/f", path_of("link.new")) == 0);
	CHECK(rename(path_of("link.new"), path_of("link")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	/* From now on the other directory counts. */
	write_file("b/f.new", "four!");
	CHECK(rename(path_of("b/f.new"), path_of("b/f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("link"));
}

/* As volumes of configuration are mounted: all files change at one go. */
TEST(a_link_through_a_directory_that_is_exchanged)
{
	struct watch *w;

	MUST(symlink("a", path_of("data")) == 0);
	MUST(symlink("data/f", path_of("link")) == 0);
	w = watch_of("link", false);
	MUST(symlink("b", path_of("data.new")) == 0);
	CHECK(rename(path_of("data.new"), path_of("data")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("link"));
	(void)unlink(path_of("data"));
}

TEST(a_directory_that_comes_back)
{
	struct watch *w;

	w = watch_of("b/f", false);
	CHECK(unlink(path_of("b/f")) == 0 && rmdir(path_of("b")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	MUST(mkdir(path_of("b"), 0755) == 0);
	write_file("b/f", "again");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
}

/* Files that are added, replaced, renamed and taken away. */
TEST(a_directory_of_files)
{
	struct watch *w;

	w = watch_of("d/", false);
	write_file("d/one.json", "one");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	write_file("d/one.json", "other");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	CHECK(rename(path_of("d/one.json"), path_of("d/two.json")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	CHECK(nothing_comes(w));
	/* As of an editor, and beside the directory. */
	write_file("d/.two.json.swp", "hidden");
	write_file("e", "beside");
	CHECK(nothing_comes(w));
	CHECK(unlink(path_of("d/.two.json.swp")) == 0);
	CHECK(unlink(path_of("e")) == 0);
	CHECK(nothing_comes(w));
	CHECK(unlink(path_of("d/two.json")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
}

TEST(a_file_of_a_directory_that_is_written_slowly)
{
	struct watch *w = watch_of("d", false);
	int fd = open(path_of("d/f"), O_WRONLY | O_CREAT, 0644);

	MUST(fd >= 0);
	CHECK(nothing_comes(w));
	CHECK(write(fd, "ha", 2) == 2);
	CHECK(nothing_comes(w));
	CHECK(write(fd, "lf", 2) == 2);
	(void)close(fd);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("d/f"));
}

/* One that is being written for good does not hold up the others. */
TEST(a_file_of_a_directory_that_is_held_open)
{
	struct watch *w = watch_of("d", false);
	int fd = open(path_of("d/held"), O_WRONLY | O_CREAT, 0644);

	MUST(fd >= 0);
	write_file("d/f", "one");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	/* Nor when it is written to again. */
	CHECK(write(fd, "more", 4) == 4);
	write_file("d/f", "other");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	(void)close(fd);
	watch_close(w);
	(void)unlink(path_of("d/f"));
	(void)unlink(path_of("d/held"));
}

/* As volumes of configuration are mounted: all files change at one go. */
TEST(a_directory_of_links)
{
	struct watch *w;

	MUST(mkdir(path_of("d/..1"), 0755) == 0);
	MUST(mkdir(path_of("d/..2"), 0755) == 0);
	write_file("d/..1/f", "one");
	write_file("d/..2/f", "two");
	MUST(symlink("..1", path_of("d/..data")) == 0);
	MUST(symlink("..data/f", path_of("d/f")) == 0);
	w = watch_of("d", false);
	MUST(symlink("..2", path_of("d/..new")) == 0);
	CHECK(nothing_comes(w));
	CHECK(rename(path_of("d/..new"), path_of("d/..data")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	/* The first is cleared away. */
	CHECK(unlink(path_of("d/..1/f")) == 0 &&
	    rmdir(path_of("d/..1")) == 0);
	CHECK(nothing_comes(w));
	/* What a link leads to is replaced. */
	write_file("d/..2/new", "three");
	CHECK(nothing_comes(w));
	CHECK(rename(path_of("d/..2/new"), path_of("d/..2/f")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("d/f"));
	(void)unlink(path_of("d/..data"));
	(void)unlink(path_of("d/..2/f"));
	(void)rmdir(path_of("d/..2"));
}

TEST(a_directory_of_files_that_comes_back)
{
	struct watch *w;

	write_file("d/f", "one");
	w = watch_of("d", false);
	CHECK(unlink(path_of("d/f")) == 0 && rmdir(path_of("d")) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	MUST(mkdir(path_of("d"), 0755) == 0);
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	write_file("d/f", "one");
	CHECK(wait_for(w, PATIENCE_MS) == WATCH_TABLES);
	watch_close(w);
	(void)unlink(path_of("d/f"));
}

/* What each case finds; "f" and "link" are its own. */
static void
make_directories(void)
{
	MUST(mkdtemp(directory) != NULL);
	MUST(mkdir(path_of("a"), 0755) == 0);
	MUST(mkdir(path_of("b"), 0755) == 0);
	MUST(mkdir(path_of("d"), 0755) == 0);
	write_file("a/f", "one");
	write_file("b/f", "two");
}

/*
 * A case in a process and a directory of its own: all wait most of their time,
 * so all run at a time.
 */
static void
begin(const struct test *test)
{
	static const char *const left[] = { "a/f", "b/f", "a", "b", "d", "f" };
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid != 0)
		return;
	make_directories();
	test->function();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		(void)remove(path_of(left[i]));
	if (rmdir(directory) != 0) {
		printf("  %s: not empty\n", directory);
		test_failed_here = 1;
	}
	printf("%s %s\n", test_failed_here ? "FAIL" : "PASS",
	    test->name);
	exit(test_failed_here);
}

int
main(void)
{
	int status, failed = 0;

	/* A line is written at once, so lines of processes do not mix. */
	MUST(setvbuf(stdout, NULL, _IOLBF, BUFSIZ) == 0);
	for (const struct test *t = test_first; t != NULL; t = t->next)
		begin(t);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
