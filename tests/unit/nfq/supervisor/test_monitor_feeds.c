/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's look at feeds, by clocks of the test's own. */
#include "nfq/supervisor/parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/log.h"
#include "tests/check.h"

#define WALL		1700000000	/* seconds, when the test begins */
#define MONOTONIC	5000000		/* milliseconds */

static char directory[] = "/tmp/nfdns-monitor-XXXXXX";
static char table[64], feed[] = "mesh";
static struct mesh_source source;
static struct config config;
static struct supervisor s;
static struct feed_report report;
static unsigned int shown;
static int64_t passed_ms;		/* since the test began */
static int64_t jumped_ms;		/* by which the time of day was set */

void
supervisor_show_state(struct supervisor *supervisor)
{
	CHECK(supervisor == &s);
	shown++;
}

static int64_t
wall_ms(void)
{
	return WALL * INT64_C(1000) + passed_ms + jumped_ms;
}

static void
set_table_time(int64_t seconds)
{
	const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
	FILE *f = fopen(table, "w");

	CHECK(f != NULL && fclose(f) == 0);
	CHECK(utimensat(AT_FDCWD, table, times, 0) == 0);
}

static void
write_report(int64_t current)
{
	report.written = report.current = current;
	CHECK(feed_status_write(&report, directory, "mesh") == 0);
}

/* So many seconds later. */
/* How often the state was shown, after so many seconds. */
static unsigned int
tick(int64_t seconds)
{
	passed_ms += seconds * 1000;
	monitor_feeds_tick(&s, wall_ms(),
	    monotime_from_ms(MONOTONIC + passed_ms));
	return shown;
}

static void
begin(void)
{
	memset(&s, 0, sizeof(s));
	memset(&report, 0, sizeof(report));
	source = (struct mesh_source){ .path = table,
		.feed = feed, .stale_after = 60 };
	config = (struct config){ .feed_run_dir = directory,
		.mesh = { .sources = &source, .source_count = 1, .ttl = 30 } };
	s.config = &config;
	shown = 0;
	passed_ms = jumped_ms = 0;
	report.running = true;
	set_table_time(WALL);
	write_report(WALL);
}

TEST(a_current_feed_is_quiet)
{
	begin();
	for (int i = 0; i < 300; i++) {
		if (i % 10 == 0)
			write_report(wall_ms() / 1000);
		CHECK(tick(1) == 0);
	}
	CHECK(s.monitor.feeds.problem[0] == '\0');
}

TEST(a_stale_feed_is_said_once)
{
	begin();
	CHECK(tick(60) == 0);
	CHECK(tick(1) == 1);
	CHECK(strstr(s.monitor.feeds.problem, "feed mesh is stale") != NULL);
	CHECK(tick(1) == 1 && tick(100) == 1);
	write_report(wall_ms() / 1000);
	CHECK(tick(0) == 2);
	CHECK(s.monitor.feeds.problem[0] == '\0');
}

/* A VM that was suspended, or meets its first time server. */
TEST(a_jump_of_the_clock_makes_nothing_old)
{
	begin();
	CHECK(tick(1) == 0);
	jumped_ms = 86400 * 1000;
	CHECK(tick(1) == 0);
	CHECK(tick(10) == 0);
	write_report(wall_ms() / 1000);
	CHECK(tick(10) == 0);
	/* A feed that has not written by then is old indeed. */
	jumped_ms *= 2;
	CHECK(tick(1) == 0 && tick(19) == 0);
	CHECK(tick(1) == 1);
	/* And backwards. */
	begin();
	CHECK(tick(1) == 0);
	jumped_ms = -86400 * 1000;
	CHECK(tick(1) == 0 && tick(30) == 0);
}

TEST(a_table_that_is_not_there_waits)
{
	begin();
	CHECK(unlink(table) == 0);
	CHECK(tick(1) == 1);
	CHECK(strstr(s.monitor.feeds.problem, "first table") != NULL);
	CHECK(tick(1000) == 1);
}

int
main(void)
{
	char path[80];

	log_set_level(LOG_LEVEL_ERROR);
	CHECK(mkdtemp(directory) != NULL);
	snprintf(table, sizeof(table), "%s/mesh.table", directory);
	test_run();
	(void)unlink(table);
	snprintf(path, sizeof(path), "%s/mesh.json", directory);
	(void)unlink(path);
	(void)rmdir(directory);
	return test_summary();
}
