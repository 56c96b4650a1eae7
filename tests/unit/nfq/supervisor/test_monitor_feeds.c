/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's look at feeds, by clocks of the test's own. */
#include "nfq/supervisor/monitor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfq/supervisor/parts.h"
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
static enum reload_wish
tick(int64_t seconds)
{
	passed_ms += seconds * 1000;
	return monitor_feeds_tick(&s, wall_ms(),
	    monotime_from_ms(MONOTONIC + passed_ms));
}

/* As a reload does. */
static void
reload(void)
{
	monitor_feeds_apply(&config, wall_ms() / 1000);
}

static void
begin(uint32_t ttl_when_stale, uint32_t expire_after)
{
	memset(&s, 0, sizeof(s));
	memset(&report, 0, sizeof(report));
	source = (struct mesh_source){ .path = table,
		.feed = feed, .stale_after = 60,
		.ttl_when_stale = ttl_when_stale,
		.expire_after = expire_after };
	config = (struct config){ .feed_run_dir = directory,
		.mesh = { .sources = &source, .source_count = 1, .ttl = 30 } };
	s.config = &config;
	shown = 0;
	passed_ms = jumped_ms = 0;
	report.running = true;
	set_table_time(WALL);
	write_report(WALL);
	reload();
	CHECK(source.age == AGE_CURRENT && !source.left_out && source.ttl == 0);
}

static void
a_current_feed_is_quiet(void)
{
	begin(5, 120);
	for (int i = 0; i < 300; i++) {
		if (i % 10 == 0)
			write_report(wall_ms() / 1000);
		CHECK(tick(1) == RELOAD_NOTHING);
	}
	CHECK(shown == 0 && s.monitor.feeds.problem[0] == '\0');
}

static void
a_stale_feed_is_said_once(void)
{
	begin(0, 0);
	CHECK(tick(60) == RELOAD_NOTHING && shown == 0);
	/* Without options for it nothing else changes. */
	CHECK(tick(1) == RELOAD_NOTHING && shown == 1);
	CHECK(strstr(s.monitor.feeds.problem, "feed mesh is stale") != NULL);
	CHECK(tick(1) == RELOAD_NOTHING && tick(100) == RELOAD_NOTHING);
	CHECK(shown == 1);
	write_report(wall_ms() / 1000);
	CHECK(tick(0) == RELOAD_NOTHING && shown == 2);
	CHECK(s.monitor.feeds.problem[0] == '\0');
}

static void
a_stale_table_is_loaded_again(void)
{
	begin(5, 0);
	CHECK(tick(61) == RELOAD_TABLES);
	/* A reload that failed is not tried each second. */
	CHECK(tick(1) == RELOAD_NOTHING && tick(28) == RELOAD_NOTHING);
	CHECK(tick(1) == RELOAD_TABLES);
	reload();
	CHECK(source.age == AGE_STALE && !source.left_out);
	CHECK(tick(60) == RELOAD_NOTHING);
	write_report(wall_ms() / 1000);
	CHECK(tick(0) == RELOAD_TABLES);
	reload();
	CHECK(source.age == AGE_CURRENT);
}

static void
an_expired_table_is_left_out(void)
{
	begin(0, 120);
	CHECK(tick(61) == RELOAD_NOTHING);
	CHECK(tick(60) == RELOAD_TABLES);
	reload();
	CHECK(source.age == AGE_EXPIRED && source.left_out);
	CHECK(tick(31) == RELOAD_NOTHING);
	write_report(wall_ms() / 1000);
	CHECK(tick(0) == RELOAD_TABLES);
	reload();
	CHECK(!source.left_out);
}

/* A VM that was suspended, or meets its first time server. */
static void
a_jump_of_the_clock_makes_nothing_old(void)
{
	begin(5, 120);
	CHECK(tick(1) == RELOAD_NOTHING);
	jumped_ms = 86400 * 1000;
	CHECK(tick(1) == RELOAD_NOTHING && shown == 0);
	CHECK(tick(10) == RELOAD_NOTHING && shown == 0);
	write_report(wall_ms() / 1000);
	CHECK(tick(10) == RELOAD_NOTHING && shown == 0);
	/* A feed that has not written by then is old indeed. */
	jumped_ms *= 2;
	CHECK(tick(1) == RELOAD_NOTHING && tick(19) == RELOAD_NOTHING);
	CHECK(tick(1) == RELOAD_TABLES && shown == 1);
	/* And backwards. */
	begin(5, 120);
	CHECK(tick(1) == RELOAD_NOTHING);
	jumped_ms = -86400 * 1000;
	CHECK(tick(1) == RELOAD_NOTHING && tick(30) == RELOAD_NOTHING);
	CHECK(shown == 0);
}

static void
a_table_that_is_not_there_waits(void)
{
	begin(5, 120);
	CHECK(unlink(table) == 0);
	CHECK(tick(1) == RELOAD_NOTHING && shown == 1);
	CHECK(strstr(s.monitor.feeds.problem, "first table") != NULL);
	CHECK(tick(1000) == RELOAD_NOTHING);
	reload();
	CHECK(source.age == AGE_CURRENT && !source.left_out);
}

static void
what_is_held_back_is_said(void)
{
	begin(0, 0);
	report.kept.held_since = WALL;
	report.kept.held_names = 3;
	write_report(WALL);
	CHECK(tick(1) == RELOAD_NOTHING && shown == 1);
	CHECK(strstr(s.monitor.feeds.problem, "holds back") != NULL);
}

int
main(void)
{
	char path[80];

	log_set_level(LOG_LEVEL_ERROR);
	CHECK(mkdtemp(directory) != NULL);
	snprintf(table, sizeof(table), "%s/mesh.table", directory);
	TEST(a_current_feed_is_quiet);
	TEST(a_stale_feed_is_said_once);
	TEST(a_stale_table_is_loaded_again);
	TEST(an_expired_table_is_left_out);
	TEST(a_jump_of_the_clock_makes_nothing_old);
	TEST(a_table_that_is_not_there_waits);
	TEST(what_is_held_back_is_said);
	(void)unlink(table);
	snprintf(path, sizeof(path), "%s/mesh.json", directory);
	(void)unlink(path);
	(void)rmdir(directory);
	return test_summary();
}
