/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/check.h"

#include <sys/stat.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/status/load_report.h"

static char dir[] = "/tmp/nfdns-load-XXXXXX";

static const char *
file(const char *name)
{
	static char path[100];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
what_was_written_is_read(void)
{
	struct mesh_source sources[] = {
		{ .path = (char[]){ "/etc/a b" }, .changed = 17 },
		{ .path = (char[]){ "/etc/\xff" }, .changed = -1 },
		{ .path = (char[]){ "/s s/m.table" }, .stale_after = 7,
		  .feed = (char[]){ "m" } },
	};
	struct config config = { .run_dir = dir, .feed_run_dir =
		(char[]){ "/run/f f" }, .mesh = { .sources = sources,
		.source_count = 3 } };
	struct config empty = { .run_dir = dir };
	struct diag diag = DIAG_INIT;
	struct load_report report;

	for (unsigned int i = 0; i < DIAG_MAX_KEPT + 5; i++)
		diag_add(&diag, DIAG_WARNING, "/etc/a b", i, "no\nsense");
	diag_add(&diag, DIAG_ERROR, NULL, 0, "an error");
	CHECK(load_report_write(&config, 8, 659, true, &diag) == 0);
	CHECK(load_report_read(&report, dir) == 0);
	CHECK(report.sequence == 8 && report.names == 659);
	CHECK(report.source_count == 3);
	CHECK(strcmp(report.sources[0].path, "/etc/a b") == 0 &&
	    report.sources[0].changed == 17);
	CHECK(strcmp(report.sources[1].path, "/etc/\xff") == 0 &&
	    report.sources[1].changed == -1);
	CHECK(strcmp(report.feed_run_dir, "/run/f f") == 0);
	CHECK(report.feed_count == 1 && report.feeds[0].stale_after == 7 &&
	    strcmp(report.feeds[0].name, "m") == 0 &&
	    strcmp(report.feeds[0].table, "/s s/m.table") == 0);
	CHECK(report.diag.errors == 1 &&
	    report.diag.warnings == DIAG_MAX_KEPT + 5);
	CHECK(report.diag.kept == diag.kept &&
	    diag_dropped(&report.diag) == diag_dropped(&diag));
	for (size_t i = 0; i < diag.kept; i++)
		CHECK(report.diag.entries[i].level == diag.entries[i].level &&
		    strcmp(report.diag.entries[i].text,
		    diag.entries[i].text) == 0);
	load_report_free(&report);

	/* No table, nothing to say: and the old file is gone. */
	diag_free(&diag);
	CHECK(load_report_write(&empty, 0, 0, false, &diag) == 0);
	CHECK(load_report_read(&report, dir) == 0);
	CHECK(report.source_count == 0 && report.diag.kept == 0);
	load_report_free(&report);
	load_report_remove(dir);
	CHECK(load_report_read(&report, dir) == -ENOENT);
	load_report_free(&report);
	CHECK(access(file(LOAD_REPORT_FILE ".new"), F_OK) < 0);
}

static void
texts_that_are_none(void)
{
	static const char *const bad[] = { "", "x", "V", "V 1\n", "V 2\nN 1\n",
	    "N 1 2 0 0\n", "V 2\nS /etc/a\n", "V 2\nS 1\n", "V 2\nX y\n",
	    "V 2\nW a\n", "V 2\nN 1 2 0 0\nE a\n", "V 2\nWa\n",
	    "V 2\nF 1 m /t\n", "V 2\nD /r\nF 1 ../m /t\n",
	    "V 2\nD /r\nF -1 m /t\n", "V 2\nD /r\nF 1 m\n",
	    "V 2\nD /r\nD /r\n" };
	struct load_report report;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[100];

		(void)snprintf(text, sizeof(text), "%s", bad[i]);
		CHECK(load_report_parse(&report, text) == -EPROTO);
		CHECK(report.source_count == 0 && report.diag.kept == 0);
		load_report_free(&report);
	}
}

/* The directory's owner is not root; whoever reads it may be. */
static void
files_that_are_none(void)
{
	struct load_report report;

	CHECK(symlink("/etc/passwd", file(LOAD_REPORT_FILE)) == 0);
	CHECK(load_report_read(&report, dir) == -EPROTO);
	load_report_remove(dir);
	CHECK(mkfifo(file(LOAD_REPORT_FILE), 0600) == 0);
	CHECK(load_report_read(&report, dir) == -EPROTO);
	load_report_remove(dir);
	CHECK(mkdir(file(LOAD_REPORT_FILE), 0700) == 0);
	CHECK(load_report_read(&report, dir) == -EPROTO);
	CHECK(rmdir(file(LOAD_REPORT_FILE)) == 0);
	CHECK(load_report_read(&report, "/nonexistent") == -ENOENT);
}

static void
a_directory_that_cannot_be_written(void)
{
	struct config config = { .run_dir = (char[]){ "/nonexistent" } };
	struct diag diag = DIAG_INIT;

	CHECK(load_report_write(&config, 0, 0, false, &diag) == -ENOENT);
}

int
main(void)
{
	CHECK(mkdtemp(dir) != NULL);
	TEST(what_was_written_is_read);
	TEST(texts_that_are_none);
	TEST(files_that_are_none);
	TEST(a_directory_that_cannot_be_written);
	(void)rmdir(dir);
	return test_summary();
}
