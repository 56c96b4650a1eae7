/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of the histogram, and numbers as people read them. */
#include "nfq/cli/top/model.h"

#include <string.h>

#include "tests/check.h"

static bool
is(const char *text, const char *wanted)
{
	if (strcmp(text, wanted) != 0)
		printf("  \"%s\", not \"%s\"\n", text, wanted);
	return strcmp(text, wanted) == 0;
}

TEST(percentiles_are_bounds)
{
	uint64_t counts[STATUS_SPENT] = { 0 };

	CHECK(latency_bucket(counts, 500) == LATENCY_NONE);
	counts[3] = 1;
	CHECK(latency_bucket(counts, 1) == 3);
	CHECK(latency_bucket(counts, 1000) == 3);
	memset(counts, 0, sizeof(counts));
	counts[0] = 500;
	counts[1] = 400;
	counts[2] = 90;
	counts[7] = 9;
	counts[STATUS_SPENT - 1] = 1;
	CHECK(latency_bucket(counts, 500) == 0);
	CHECK(latency_bucket(counts, 501) == 1);
	CHECK(latency_bucket(counts, 900) == 1);
	CHECK(latency_bucket(counts, 990) == 2);
	CHECK(latency_bucket(counts, 999) == 7);
	CHECK(latency_bucket(counts, 1000) == STATUS_SPENT - 1);
	/* Sums that wrap, as a hostile page may have them. */
	memset(counts, 0xff, sizeof(counts));
	CHECK(latency_bucket(counts, 999) < STATUS_SPENT);
}

TEST(bounds_have_units)
{
	char text[TOP_TEXT];

	CHECK(is(latency_text(0, text), "<5us"));
	CHECK(is(latency_text(8, text), "<2ms"));
	CHECK(is(latency_text(STATUS_SPENT - 2, text), "<5s"));
	CHECK(is(latency_text(STATUS_SPENT - 1, text), ">5s"));
	CHECK(is(latency_text(LATENCY_NONE, text), "-"));
	CHECK(is(latency_mean_text(7123, text), "7.1us"));
	CHECK(is(latency_mean_text(12400000, text), "12.4ms"));
	CHECK(is(latency_mean_text(1300000000, text), "1.3s"));
}

TEST(numbers_fit_their_columns)
{
	static const struct {
		uint64_t number;
		const char *text;
	} rows[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1,000" },
		{ 999999, "999,999" }, { 1000000, "1.00M" },
		{ 9994999, "9.99M" }, { 12345678, "12.3M" },
		{ 999499999, "999M" }, { 999600000, "1.00G" },
		{ UINT64_MAX, "18.4E" },
	};
	char text[TOP_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(is(number_text(rows[i].number, text), rows[i].text));
	CHECK(is(rate_text(0, text), "0"));
	CHECK(is(rate_text(0.04, text), "0"));
	CHECK(is(rate_text(0.05, text), "0.1"));
	CHECK(is(rate_text(9.94, text), "9.9"));
	CHECK(is(rate_text(9.95, text), "10"));
	CHECK(is(rate_text(12345.4, text), "12,345"));
	CHECK(strlen(rate_text(1e300, text)) <= 7);
	CHECK(is(span_text(59, text), "59s"));
	CHECK(is(span_text(61, text), "1:01"));
	CHECK(is(span_text(3661, text), "1:01:01"));
	CHECK(is(span_text(90000, text), "1d 01:00"));
	CHECK(strlen(span_text(UINT64_MAX, text)) < TOP_TEXT);
}
