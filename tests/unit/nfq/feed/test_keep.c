/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is offered is kept: or not, and then what was kept is still there. */
#include "nfq/feed/keep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/log.h"
#include "resolver/sources/feed_file.h"
#include "tests/check.h"

static char directory[] = "/tmp/nfdns-keep-XXXXXX";

static struct feed_kept shown;
static struct feed_keep *keep;
static char why[FEED_TEXT];
static const char *source = "192.0.2.1:15012";
static int64_t tick_ms = 1;

/* Good until the next call. */
static struct feed_table
one_part(const char *format, const void *octets, size_t length,
    uint64_t count)
{
	static struct iovec part;

	part = (struct iovec){ (void *)(uintptr_t)octets, length };
	return (struct feed_table){ .format = format, .version = "v",
		.parts = &part, .part_count = 1, .length = length, .names = count };
}

/* So many names; of its octets nothing is looked at. */
static struct feed_table
names(int first, int last, const char *address)
{
	static char octets[128];
	const int length = snprintf(octets, sizeof(octets), "%d to %d: %s",
	    first, last, address);

	return one_part("nds-proto", octets, (size_t)length,
	    (uint64_t)(last - first + 1));
}

static enum feed_verdict
offer_at(const struct feed_table *table, int64_t now)
{
	return feed_keep_offer(keep, table, source, now,
	    monotime_from_ms(tick_ms), why);
}

static enum feed_verdict
offer(int first, int last, const char *address)
{
	const struct feed_table table = names(first, last, address);

	return offer_at(&table, 1000);
}

/* Another process of the feed. */
static void
start(void)
{
	feed_keep_close(keep);
	CHECK(feed_keep_open(&keep, directory, "mesh", &shown) == 0);
}

/* With an empty directory. */
static void
start_anew(void)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;

	while ((entry = readdir(d)) != NULL)
		if (unlinkat(dirfd(d), entry->d_name, 0) < 0)
			(void)unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
	closedir(d);
	start();
}

/* The header of a file there; all zero if there is no sound one. */
static struct feed_header
there(const char *name)
{
	struct feed_header header;
	const char *reason;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY);
	if (feed_file_peek(&header, fd, &reason) < 0)
		memset(&header, 0, sizeof(header));
	close(fd);
	return header;
}

TEST(a_table_is_kept_with_what_is_known_of_it)
{
	struct feed_header header;

	start_anew();
	CHECK(shown.time == 0);
	CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED);
	header = there("mesh.table");
	CHECK(header.names == 3 && header.time == 1000);
	CHECK(strcmp(header.format, "nds-proto") == 0);
	CHECK(strcmp(header.version, "v") == 0);
	CHECK(strcmp(header.source, "192.0.2.1:15012") == 0);
	CHECK(shown.names == 3 && shown.time == 1000 &&
	    shown.octets == header.length);
	CHECK(offer(2, 5, "192.0.2.7") == FEED_APPLIED && shown.names == 4);
}

/* Also after a restart nothing is written, so that nfdnsd loads nothing. */
TEST(an_equal_table_writes_nothing)
{
	char path[64];
	struct stat before, after;

	start_anew();
	CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED);
	snprintf(path, sizeof(path), "%s/mesh.table", directory);
	CHECK(stat(path, &before) == 0);
	CHECK(offer(1, 3, "192.0.2.7") == FEED_SAME);
	start();
	CHECK(shown.names == 3 && shown.time == 1000);
	CHECK(offer(1, 3, "192.0.2.7") == FEED_SAME);
	CHECK(stat(path, &after) == 0);
	CHECK(before.st_ino == after.st_ino &&
	    before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
}

/* What somebody else has removed is written again. */
TEST(a_table_that_is_gone_is_kept_again)
{
	char path[64];

	start_anew();
	CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED);
	snprintf(path, sizeof(path), "%s/mesh.table", directory);
	CHECK(unlink(path) == 0);
	CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED);
	CHECK(there("mesh.table").names == 3);
}

TEST(what_is_no_table_there_is_replaced)
{
	char path[64], victim[64];
	FILE *f;
	struct stat st;

	snprintf(path, sizeof(path), "%s/mesh.table", directory);
	snprintf(victim, sizeof(victim), "%s/victim", directory);
	for (int kind = 0; kind < 3; kind++) {
		start_anew();
		f = fopen(victim, "w");
		fputs("victim", f);
		fclose(f);
		if (kind == 0)
			CHECK(symlink(victim, path) == 0);
		else if (kind == 1)
			CHECK(mkfifo(path, 0600) == 0);
		else
			CHECK(rename(victim, path) == 0);
		start();
		CHECK(shown.time == 0);
		CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED);
		CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
		CHECK(there("mesh.table").names == 3);
		CHECK(kind == 2 || (stat(victim, &st) == 0 && st.st_size == 6));
	}
	start_anew();
	CHECK(mkdir(path, 0755) == 0);
	start();
	CHECK(offer(1, 3, "192.0.2.7") == FEED_FAILED && shown.error[0] != '\0');
	CHECK(rmdir(path) == 0);
	CHECK(offer(1, 3, "192.0.2.7") == FEED_APPLIED &&
	    shown.error[0] == '\0');
}

/* What the log says meanwhile is in "said". */
static char said[4096];

static void
listen_to_log(int saved)
{
	static FILE *file;
	size_t n;

	if (saved < 0) {
		file = tmpfile();
		CHECK(dup2(fileno(file), STDERR_FILENO) >= 0);
		log_change_level(LOG_LEVEL_INFO);
		return;
	}
	log_change_level(LOG_LEVEL_ERROR);
	CHECK(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = '\0';
	fclose(file);
}

static unsigned int
lines_said(void)
{
	unsigned int lines = 0;

	for (const char *p = said; *p != '\0'; p++)
		lines += *p == '\n';
	return lines;
}

TEST(item_28_a_line_a_minute)
{
	const int saved = dup(STDERR_FILENO);

	start_anew();
	listen_to_log(-1);
	for (int i = 1; i <= 8; i++, tick_ms += 1000) {
		CHECK(offer(1, i, "192.0.2.7") == FEED_APPLIED);
		feed_keep_tell(keep, monotime_from_ms(tick_ms));
	}
	tick_ms += KEEP_TELL_MS - 8000 - 1;
	feed_keep_tell(keep, monotime_from_ms(tick_ms));
	tick_ms++;
	feed_keep_tell(keep, monotime_from_ms(tick_ms));
	tick_ms += (int64_t)2 * KEEP_TELL_MS;
	feed_keep_tell(keep, monotime_from_ms(tick_ms));
	/* After a quiet minute the next one is told at once. */
	CHECK(offer(2, 9, "192.0.2.8") == FEED_APPLIED);
	/* What is not told at the end is told then. */
	CHECK(offer(1, 9, "192.0.2.8") == FEED_APPLIED);
	CHECK(offer(1, 8, "192.0.2.8") == FEED_APPLIED);
	start();
	listen_to_log(saved);
	CHECK(strstr(said, "feed mesh: table of 1 names\n"));
	CHECK(strstr(said, "feed mesh: 7 tables in the last minute, the last "
	    "one of 8 names\n"));
	CHECK(strstr(said, "feed mesh: table of 8 names\n"));
	CHECK(strstr(said, "feed mesh: 2 tables in the last minute, the last "
	    "one of 8 names\n"));
	CHECK(lines_said() == 4);
}

TEST(a_directory_is_needed)
{
	struct feed_keep *none;

	CHECK(feed_keep_open(&none, "/dev/null", "mesh", &shown) < 0);
	CHECK(none == NULL);
	feed_keep_close(none);
}

int
main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	CHECK(mkdtemp(directory) != NULL);
	test_run();
	start_anew();
	feed_keep_close(keep);
	(void)rmdir(directory);
	return test_summary();
}
