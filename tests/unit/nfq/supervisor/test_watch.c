/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/supervisor/watch.h"
#include "tests/check.h"
#include "tests/image.h"

static char directory[] = "/tmp/nfdns-test-watch.XXXXXX";
static struct watch *w;
static monotime_t now;

static const char *
path_of(const char *name)
{
	static char paths[4][200];
	static unsigned int next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

/* Another file each time, since a coarse clock may give it the time of before. */
static void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of("fresh"), "w");

	MUST(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
	MUST(rename(path_of("fresh"), path_of(name)) == 0);
}

static void
watch(const char *name, bool beside)
{
	watch_close(w);
	w = watch_open();
	MUST(w != NULL);
	MUST(watch_add(w, path_of(name), WATCH_TABLES, beside) == 0);
}

static unsigned int
look(void)
{
	now = monotime_add_ms(now, WATCH_LOOK_MS);
	return watch_look(w, now);
}

/* It is reported at the second look, and once. */
static bool
is_reported(void)
{
	return look() == 0 && look() == WATCH_TABLES && look() == 0;
}

static bool
nothing_comes(void)
{
	return look() == 0 && look() == 0;
}

static void
begin(void)
{
	MUST(mkdtemp(directory) != NULL);
	MUST(mkdir(path_of("a"), 0755) == 0 && mkdir(path_of("b"), 0755) == 0);
	write_file("a/f", "one");
	write_file("b/f", "two");
	now = monotime_now();
}

static int
remove_it(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void
end(void)
{
	watch_close(w);
	w = NULL;
	CHECK(nftw(directory, remove_it, 8, FTW_DEPTH | FTW_PHYS) == 0);
	memcpy(strrchr(directory, '.') + 1, "XXXXXX", 6);
}

TEST(a_file_that_is_replaced)
{
	begin();
	watch("a/f", false);
	CHECK(nothing_comes());
	write_file("a/f", "two");
	CHECK(is_reported());
	CHECK(unlink(path_of("a/f")) == 0);
	CHECK(is_reported());
	write_file("a/f", "three");
	CHECK(is_reported());
	MUST(truncate(path_of("a/f"), 1) == 0);
	CHECK(is_reported());
	/* No look is due. */
	write_file("a/f", "four");
	CHECK(watch_look(w, now) == 0);
	CHECK(is_reported());
	end();
}

TEST(a_file_that_changes_at_each_look)
{
	unsigned int looks = 0, changed = 0;

	begin();
	watch("a/f", false);
	CHECK(look() == 0);
	while (changed == 0 && looks < 100) {
		write_file("a/f", looks++ % 2 == 0 ? "two" : "three");
		changed = look();
	}
	CHECK(changed == WATCH_TABLES);
	CHECK(looks == 1 + WATCH_LATEST_MS / WATCH_LOOK_MS);
	CHECK(nothing_comes());
	end();
}

/* Renamed whole, so there is nothing to wait for; another table waits still. */
TEST(a_feeds_table_is_reported_at_once)
{
	struct pollfd wait = { .events = POLLIN };

	begin();
	watch("a/f", false);
	MUST(watch_add(w, path_of("b/fed"), WATCH_FEEDS, false) == 0);
	wait.fd = watch_fd(w);
	for (int i = 0; i < 3; i++) {
		write_file("b/fed", i % 2 == 0 ? "two" : "three");
		CHECK(poll(&wait, 1, 20000) == 1);
		CHECK(watch_feeds(w) == WATCH_FEEDS && watch_feeds(w) == 0);
	}
	CHECK(nothing_comes());
	write_file("a/f", "four");
	CHECK(unlink(path_of("b/fed")) == 0);
	CHECK(look() == WATCH_FEEDS && look() == WATCH_TABLES);
	/* The directory goes and comes back: a look finds it, the next event tells. */
	CHECK(unlink(path_of("b/f")) == 0 && rmdir(path_of("b")) == 0);
	CHECK(look() == 0);
	MUST(mkdir(path_of("b"), 0755) == 0);
	CHECK(look() == 0);
	write_file("b/fed", "five");
	CHECK(poll(&wait, 1, 20000) == 1 && watch_feeds(w) == WATCH_FEEDS);
	end();
}

TEST(files_beside_it)
{
	begin();
	watch("a/f", false);
	write_file("a/g", "two");
	CHECK(nothing_comes());
	watch("a/f", true);
	write_file("a/g", "three");
	CHECK(is_reported());
	write_file("a/.hidden", "three");
	CHECK(nothing_comes());
	end();
}

/* As a service does that owns the file behind /etc/resolv.conf. */
TEST(a_link_and_what_it_leads_to)
{
	begin();
	MUST(symlink("a", path_of("data")) == 0);
	MUST(symlink("data/f", path_of("link")) == 0);
	watch("link", false);
	write_file("a/f", "three");
	CHECK(is_reported());
	MUST(symlink("b", path_of("data.new")) == 0);
	CHECK(rename(path_of("data.new"), path_of("data")) == 0);
	CHECK(is_reported());
	/* From now on the other file counts. */
	write_file("b/f", "four");
	CHECK(is_reported());
	write_file("a/f", "five");
	CHECK(nothing_comes());
	end();
}

/* Files that are added, replaced, renamed and taken away. */
TEST(a_directory_of_files)
{
	begin();
	watch("a/", false);
	write_file("a/one", "one");
	CHECK(is_reported());
	write_file("a/one", "other");
	CHECK(is_reported());
	CHECK(rename(path_of("a/one"), path_of("a/two")) == 0);
	CHECK(is_reported());
	/* As of an editor, and beside the directory. */
	write_file("a/.two.swp", "hidden");
	write_file("e", "beside");
	CHECK(nothing_comes());
	CHECK(unlink(path_of("a/two")) == 0);
	CHECK(is_reported());
	/* As volumes of configuration are mounted: all change at one go. */
	MUST(mkdir(path_of("a/..1"), 0755) == 0 && mkdir(path_of("a/..2"), 0755) == 0);
	write_file("a/..1/k", "one");
	write_file("a/..2/k", "two");
	MUST(symlink("..1", path_of("a/..data")) == 0);
	MUST(symlink("..data/k", path_of("a/k")) == 0);
	CHECK(is_reported());
	MUST(symlink("..2", path_of("a/..new")) == 0);
	CHECK(nothing_comes());
	CHECK(rename(path_of("a/..new"), path_of("a/..data")) == 0);
	CHECK(is_reported());
	/* It goes, and comes back. */
	CHECK(rename(path_of("a"), path_of("c")) == 0);
	CHECK(is_reported());
	CHECK(rename(path_of("c"), path_of("a")) == 0);
	CHECK(is_reported());
	end();
}
