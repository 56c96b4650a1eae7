/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/model.h"

#include <inttypes.h>
#include <stdio.h>

static const uint32_t bounds[] = STATUS_SPENT_US;

const struct latency latencies[LATENCIES] = {
	{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
};

unsigned int
latency_bucket(const uint64_t counts[static STATUS_SPENT],
    unsigned int permille)
{
	double all = 0, sum = 0;
	unsigned int last = LATENCY_NONE;

	for (unsigned int i = 0; i < STATUS_SPENT; i++)
		all += (double)counts[i];
	for (unsigned int i = 0; i < STATUS_SPENT; i++) {
		if (counts[i] == 0)
			continue;
		last = i;
		sum += (double)counts[i];
		if (sum * 1000 >= all * permille)
			return i;
	}
	return last;
}

const char *
latency_text(unsigned int bucket, char text[static TOP_TEXT])
{
	const bool above = bucket == STATUS_SPENT - 1;
	const uint32_t us = bounds[above ? bucket - 1 :
	    bucket < STATUS_SPENT ? bucket : 0];

	if (bucket >= STATUS_SPENT)
		return "-";
	(void)snprintf(text, TOP_TEXT, "%c%" PRIu32 "%s", above ? '>' : '<',
	    us >= 1000000 ? us / 1000000 : us >= 1000 ? us / 1000 : us,
	    us >= 1000000 ? "s" : us >= 1000 ? "ms" : "us");
	return text;
}

const char *
latency_mean_text(uint64_t ns, char text[static TOP_TEXT])
{
	const double us = (double)ns / 1000;

	if (us < 1000)
		(void)snprintf(text, TOP_TEXT, "%.1fus", us);
	else if (us < 1000000)
		(void)snprintf(text, TOP_TEXT, "%.1fms", us / 1000);
	else
		(void)snprintf(text, TOP_TEXT, "%.1fs", us / 1000000);
	return text;
}

const char *
number_text(uint64_t number, char text[static TOP_TEXT])
{
	static const char units[] = "MGTPE";
	double shown = (double)number / 1000000;
	size_t unit = 0;

	if (number < 1000)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64, number);
	else if (number < 1000000)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ",%03" PRIu64,
		    number / 1000, number % 1000);
	else {
		for (; shown >= 999.5 && unit + 2 < sizeof(units); unit++)
			shown /= 1000;
		(void)snprintf(text, TOP_TEXT, "%.*f%c", shown < 9.995 ? 2 :
		    shown < 99.95 ? 1 : 0, shown, units[unit]);
	}
	return text;
}

const char *
rate_text(double rate, char text[static TOP_TEXT])
{
	if (!(rate >= 0.05))
		return "0";
	if (rate >= 9.95)
		return number_text(rate < 1e18 ? (uint64_t)(rate + 0.5) :
		    (uint64_t)1e18, text);
	(void)snprintf(text, TOP_TEXT, "%.1f", rate);
	return text;
}

const char *
span_text(uint64_t seconds, char text[static TOP_TEXT])
{
	const uint64_t days = seconds / 86400, hours = seconds / 3600 % 24;
	const uint64_t minutes = seconds / 60 % 60, rest = seconds % 60;

	if (days > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 "d %02" PRIu64
		    ":%02" PRIu64, days, hours, minutes);
	else if (hours > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ":%02" PRIu64
		    ":%02" PRIu64, hours, minutes, rest);
	else if (minutes > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ":%02" PRIu64,
		    minutes, rest);
	else
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 "s", rest);
	return text;
}
