/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory, at each place where some is asked for: a table is kept whole or
 * not at all, and one that loses most names is held all the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/feed/keep.h"
#include "nfq/feed/keep_file.h"
#include "policy/log.h"
#include "tests/check.h"
#include "tests/no_memory.h"

#define MOST_CALLS	200

static char directory[] = "/tmp/nfdns-no-memory-XXXXXX";
static struct feed_kept shown;
static struct feed_keep *keep;

static uint8_t *
put(uint8_t *to, uint8_t field, const void *octets, size_t length)
{
	*to++ = (uint8_t)(field << 3 | 2);
	*to++ = (uint8_t)length;
	memcpy(to, octets, length);
	return to + length;
}

/* Good for the call that it is made for. */
static struct feed_table
one_part(const char *format, const void *octets, size_t length)
{
	static struct iovec parts[4];
	static unsigned int next;
	struct iovec *part = &parts[next++ % 4];

	*part = (struct iovec){ (void *)(uintptr_t)octets, length };
	return (struct feed_table){ format, "v", part, 1, length };
}

/* A NameTable of the names 100 to last, which ascend or descend. */
static struct feed_table
names(int last, bool descend)
{
	static uint8_t room[2][16384];
	uint8_t *octets = room[descend], *to = octets;

	for (int i = 100; i <= last; i++) {
		uint8_t entry[64], value[32], *end = value, *at = entry;
		char host[12];

		(void)snprintf(host, sizeof(host), "%d",
		    descend ? last + 100 - i : i);
		end = put(end, 1, "192.0.2.7", 9);
		at = put(at, 1, host, strlen(host));
		at = put(at, 2, value, (size_t)(end - value));
		to = put(to, 1, entry, (size_t)(at - entry));
	}
	return one_part("nds-proto", octets, (size_t)(to - octets));
}

static struct feed_table
objects(const char *text)
{
	return one_part("kubernetes", text, strlen(text));
}

static enum feed_verdict
offer(struct feed_table table)
{
	char why[FEED_TEXT];

	return feed_keep_offer(keep, &table, "192.0.2.1:15012", 1000,
	    monotime_from_ms(1), why);
}

static void
start(struct feed_table table)
{
	char path[64];

	feed_keep_close(keep);
	(void)snprintf(path, sizeof(path), "%s/mesh.table", directory);
	(void)unlink(path);
	CHECK(feed_keep_open(&keep, directory, "mesh", 1000, &shown) == 0);
	CHECK(offer(table) == FEED_APPLIED);
}

/* What is in the table's file, which is always a sound one. */
static uint64_t
names_there(void)
{
	struct table_names names;
	struct keep_file file;
	const char *why;
	char path[64];
	uint64_t count;

	(void)snprintf(path, sizeof(path), "%s/mesh.table", directory);
	CHECK(keep_file_read(&file, AT_FDCWD, path, &names, &why) == 0);
	count = file.header.names;
	table_names_free(&names);
	keep_file_clear(&file);
	return count;
}

/*
 * Offers a table while memory runs out at each call in turn, until it lasts.
 * "before": names before; "wanted": what comes of it with memory.
 */
static unsigned int
each_fails(struct feed_table before, uint64_t count_before,
    struct feed_table table, enum feed_verdict wanted)
{
	unsigned int failed = 0;

	for (long n = 0; n < MOST_CALLS; n++) {
		enum feed_verdict verdict;

		start(before);
		no_memory_after(n);
		verdict = offer(table);
		no_memory_in = -1;
		if (!no_memory_failed) {
			CHECK(verdict == wanted);
			return failed;
		}
		CHECK(verdict == FEED_FAILED || verdict == wanted);
		if (verdict == FEED_FAILED)
			CHECK(names_there() == count_before);
		failed += verdict == FEED_FAILED;
		verdict = offer(table);
		CHECK(verdict == wanted || verdict == FEED_SAME);
	}
	return 0;
}

TEST(a_table_is_kept_or_not)
{
	CHECK(each_fails(names(109, false), 10, names(119, false),
	    FEED_APPLIED) >= 1);
	CHECK(each_fails(names(109, false), 10, names(119, true),
	    FEED_APPLIED) >= 1);
}

TEST(objects_too)
{
	CHECK(each_fails(objects("{\"items\":[{\"kind\":\"a\"}]}"), 1,
	    objects("{\"items\":[{\"kind\":\"a\"},{\"kind\":\"b\"}]}"),
	    FEED_APPLIED) >= 2);
}

/* A process that begins without memory uses no half of a table. */
TEST(what_was_kept_is_read_or_not)
{
	for (long n = 0; n < MOST_CALLS; n++) {
		int error;

		start(names(399, true));
		feed_keep_close(keep);
		no_memory_after(n);
		error = feed_keep_open(&keep, directory, "mesh", 1000, &shown);
		no_memory_in = -1;
		if (!no_memory_failed) {
			CHECK(n >= 2 && error == 0 && shown.names == 300);
			return;
		}
		CHECK(error == (n == 0 ? -ENOMEM : 0));
		if (error == 0)
			CHECK(offer(names(399, false)) == FEED_APPLIED);
	}
	CHECK(false);
}

int
main(void)
{
	char path[64];

	log_set_level((enum log_level)0);
	CHECK(mkdtemp(directory) != NULL);
	test_run();
	start(names(109, false));
	feed_keep_close(keep);
	(void)snprintf(path, sizeof(path), "%s/mesh.table", directory);
	CHECK(unlink(path) == 0 && rmdir(directory) == 0);
	return test_summary();
}
