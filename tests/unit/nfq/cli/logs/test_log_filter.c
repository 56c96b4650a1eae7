/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names with stars, times as people write them, all that must hold. */
#include "nfq/cli/logs/log_text.h"

#include <stdlib.h>
#include <time.h>

#include "tests/check.h"

TEST(names)
{
	CHECK(log_filter_name("a.example", "a.example."));
	CHECK(log_filter_name("A.Example.", "a.eXample"));
	CHECK(!log_filter_name("a.example", "b.a.example."));
	CHECK(log_filter_name("*.example", "b.a.example."));
	CHECK(!log_filter_name("*.example", "example."));
	CHECK(log_filter_name("*", "."));
	CHECK(log_filter_name(".", "."));
	CHECK(log_filter_name("*a*b*", "xaxxbx."));
	CHECK(log_filter_name("a*b*b", "axbxb"));
	CHECK(!log_filter_name("*a*b*c", "xaxxbx."));
	CHECK(!log_filter_name("", "a."));
}

/* The time that this takes grows with the product of the lengths only. */
TEST(hostile_names)
{
	char name[1001], pattern[201];

	for (size_t i = 0; i < 1000; i++)
		name[i] = 'a';
	name[1000] = '\0';
	for (size_t i = 0; i < 200; i++)
		pattern[i] = i % 2 == 0 ? '*' : 'a';
	pattern[199] = 'b';
	pattern[200] = '\0';
	CHECK(!log_filter_name(pattern, name));
}

static bool
is_since(const char *text, int64_t expected)
{
	/* 2026-11-22 13:40:05 UTC */
	uint64_t ns = 1;

	return log_filter_since(&ns, text, 1795354805) &&
	    ns == (uint64_t)expected * 1000000000U;
}

TEST(times)
{
	uint64_t ns;

	CHECK(is_since("10m", 1795354805 - 600));
	CHECK(is_since("0s", 1795354805));
	CHECK(is_since("2h", 1795354805 - 7200));
	CHECK(is_since("3d", 1795354805 - 3 * 86400));
	CHECK(is_since("999999d", 0));
	CHECK(is_since("13:40", 1795354800));
	CHECK(is_since("13:40:01", 1795354801));
	CHECK(is_since("2026-11-22", 1795305600));
	CHECK(is_since("2026-11-22 13:40", 1795354800));
	CHECK(is_since("2026-11-22T13:40:02", 1795354802));
	CHECK(is_since("10", 1795354795));
	CHECK(!log_filter_since(&ns, "10w", 0));
	CHECK(!log_filter_since(&ns, "-1h", 0));
	CHECK(!log_filter_since(&ns, "yesterday", 0));
	CHECK(!log_filter_since(&ns, "2026-11-22 13:40x", 0));
	CHECK(!log_filter_since(&ns, "", 0));
}

TEST(all_must_hold)
{
	struct log_entry line = { .time_ns = 1000, .verdict = "answer",
		.client = "10.0.0.1", .uid = 33, .type = "A",
		.name = "a.example.", .reason = "record" };
	struct log_filter f = { .name = "a.*", .verdict = "answer",
		.has_user = true, .user = 33, .since_ns = 1000 };

	CHECK(log_filter_takes(&f, &line));
	f.rule = "block";
	CHECK(!log_filter_takes(&f, &line));
	line.rule = "block";
	CHECK(log_filter_takes(&f, &line));
	line.rule = NULL;
	line.observed = "block";
	CHECK(log_filter_takes(&f, &line));
	line.rule = "other";
	f.user = 34;
	CHECK(!log_filter_takes(&f, &line));
	f.has_user = false;
	f.since_ns = 1001;
	CHECK(!log_filter_takes(&f, &line));
	f.since_ns = 0;
	f.verdict = "pass";
	CHECK(!log_filter_takes(&f, &line));
	f.verdict = NULL;
	line.type = NULL;
	CHECK(!log_filter_takes(&f, &line));
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return test_run();
}
