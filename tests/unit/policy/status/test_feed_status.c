/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/feed_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char directory[] = "/tmp/nfdns-feeds-XXXXXX";

static struct feed_report
example(void)
{
	struct feed_report r;

	memset(&r, 0, sizeof(r));
	snprintf(r.type, sizeof(r.type), "xds");
	r.written = r.current = 1000;
	r.running = true;
	r.restarts = 2;
	r.status.connected = true;
	r.status.since = 900;
	r.status.last_life = 999;
	snprintf(r.status.peer, FEED_TEXT, "192.0.2.1:15012");
	snprintf(r.status.error, FEED_TEXT, "it said \"no\" \303\244");
	for (size_t i = 0; i < FEED_CAUSES; i++)
		r.status.reconnects[i] = i + 5;
	r.status.cert_begin = 0;
	r.status.cert_end = 100000;
	r.kept.time = 950;
	r.kept.names = UINT32_MAX;
	r.kept.names *= 2;
	return r;
}

TEST(what_is_written_is_read)
{
	struct feed_report r = example(), got;

	CHECK(feed_status_write(&r, directory, "mesh") == 0);
	CHECK(feed_status_read(&got, directory, "mesh") == 0);
	CHECK(memcmp(&r, &got, sizeof(r)) == 0);
	CHECK(feed_status_read(&got, directory, "other") == -ENOENT);
	CHECK(feed_status_write(&r, "/no/such", "mesh") == -ENOENT);
}

/* The child writes while the parent reads: it is still text. */
TEST(any_octets_become_text)
{
	struct feed_report r = example(), got;

	memset(r.status.error, '\377', sizeof(r.status.error));
	memset(r.kept.error, '\n', sizeof(r.kept.error));
	memset(r.type, '\033', sizeof(r.type));
	CHECK(feed_status_write(&r, directory, "mesh") == 0);
	CHECK(feed_status_read(&got, directory, "mesh") == 0);
	CHECK(strlen(got.status.error) > FEED_TEXT - 5);
	CHECK(strpbrk(got.status.error, "\377\n\033") == NULL);
	CHECK(strpbrk(got.kept.error, "\n") == NULL);
}

static void
check_refused(const char *path)
{
	struct feed_report got, zero;

	memset(&zero, 0, sizeof(zero));
	CHECK(feed_status_read(&got, directory, "mesh") == -EPROTO);
	CHECK(memcmp(&got, &zero, sizeof(got)) == 0);
	CHECK(remove(path) == 0);
}

TEST(nothing_else_is_read)
{
	static const char *const texts[] = { "", "{}", "[", "{\"type\":3}",
		"null", "\"\"" };
	char path[64], other[64];
	struct feed_report r = example();
	FILE *f;

	snprintf(path, sizeof(path), "%s/mesh.json", directory);
	snprintf(other, sizeof(other), "%s/other.json", directory);
	(void)remove(path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		f = fopen(path, "w");
		fputs(texts[i], f);
		fclose(f);
		check_refused(path);
	}
	CHECK(feed_status_write(&r, directory, "other") == 0);
	CHECK(symlink(other, path) == 0);
	check_refused(path);
	CHECK(mkfifo(path, 0600) == 0);
	check_refused(path);
	CHECK(mkdir(path, 0700) == 0);
	check_refused(path);
	CHECK(rename(other, path) == 0);
	CHECK(truncate(path, FEED_STATUS_MAX + 1) == 0);
	check_refused(path);
}

TEST(a_table_is_as_old_as_it_was_seen)
{
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	char path[64], seen[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mesh.table", directory);
	snprintf(seen, sizeof(seen), "%s/mesh.seen", directory);
	CHECK(feed_status_table_time(path) == 0);
	CHECK(feed_status_seen(directory, "mesh", 2000) == 0);
	CHECK(feed_status_table_time(path) == 0);
	f = fopen(path, "w");
	fclose(f);
	CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
	CHECK(feed_status_table_time(path) == 2000);
	CHECK(feed_status_seen(directory, "mesh", 500) == 0);
	CHECK(feed_status_table_time(path) == 1000);
	CHECK(unlink(seen) == 0 && symlink("/etc/passwd", seen) == 0);
	CHECK(feed_status_seen(directory, "mesh", 3000) < 0);
	CHECK(unlink(seen) == 0 && unlink(path) == 0);
	CHECK(feed_status_table_time("") == 0);
}

TEST(a_feed_is_healthy_or_not)
{
	struct feed_report r = example(), none;
	char text[FEED_HEALTH_TEXT];

	memset(&none, 0, sizeof(none));
	CHECK(feed_status_health(&r, 950, 600, 1600) == FEED_HEALTHY);
	CHECK(feed_status_health(&r, 950, 600, 1601) == FEED_STALE);
	CHECK(feed_status_health(&r, 0, 600, 1600) == FEED_WAITS);
	/* Without a report the table's own age counts. */
	CHECK(feed_status_health(&none, 950, 600, 1550) == FEED_HEALTHY);
	CHECK(feed_status_health(&none, 950, 600, 1551) == FEED_STALE);
	/* A clock that was set back makes nothing older. */
	CHECK(feed_status_health(&r, 950, 600, 10) == FEED_HEALTHY);
	CHECK(feed_status_current(&r, 950, 10) == 10);
	r.current = 75000;
	CHECK(feed_status_health(&r, 950, 600, 75000) == FEED_HEALTHY);
	CHECK(feed_status_health(&r, 950, 600, 75001) == FEED_CERTIFICATE);
	/* Issue 23, item 26: a full disk is not "current". */
	(void)snprintf(r.kept.error, sizeof(r.kept.error), "disk full");
	CHECK(feed_status_health(&r, 950, 600, 75001) == FEED_NOT_KEPT);
	CHECK(strstr(feed_status_text(FEED_NOT_KEPT, "m", &r, 600, 1600, text),
	    "feed m: disk full: the table in use") != NULL);
	r.kept.error[0] = '\0';
}

TEST(what_is_wrong_is_said)
{
	struct feed_report r = example();
	char text[FEED_HEALTH_TEXT];

	CHECK(feed_status_text(FEED_HEALTHY, "m", &r, 600, 1600, text) == NULL);
	CHECK(strcmp(feed_status_text(FEED_STALE, "m", &r, 600, 8200, text),
	    "feed m is stale, without a sign of life for more than 10 minutes: "
	    "it said \"no\" \303\244") == 0);
	r.status.error[0] = '\0';
	r.running = false;
	CHECK(strcmp(feed_status_text(FEED_WAITS, "m", &r, 600, 1600, text),
	    "feed m waits for its first table: is nfdns-feed running?") == 0);
	CHECK(strcmp(feed_status_text(FEED_CERTIFICATE, "m", &r, 600, 100000,
	    text), "feed m: its certificate has ended: renew it") == 0);
	CHECK(strcmp(feed_status_text(FEED_CERTIFICATE, "m", &r, 600,
	    100000 - 300, text), "feed m: its certificate ends in 5 minutes "
	    "and was not renewed") == 0);
}

int
main(void)
{
	CHECK(mkdtemp(directory) != NULL);
	test_run();
	(void)rmdir(directory);
	return test_summary();
}
