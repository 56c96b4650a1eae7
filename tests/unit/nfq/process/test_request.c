/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/process/request.h"

#include <string.h>

#include "tests/check.h"

static struct daemon_request r;

static bool
reads(const char *line)
{
	return request_parse(&r, line, strlen(line)) == 0;
}

TEST(requests)
{
	static const struct {
		const char *line;
		enum request_kind kind;
		unsigned int option;
		bool open;
	} good[] = {
		{ "status", REQUEST_STATUS, 0, true },
		{ "status json\n", REQUEST_STATUS, 1, true },
		{ "status all", REQUEST_STATUS, 2, true },
		{ "metrics", REQUEST_METRICS, 0, true },
		{ "metrics openmetrics", REQUEST_METRICS, 1, true },
		{ "page", REQUEST_PAGE, 0, true },
		{ "reload", REQUEST_RELOAD, 0, false },
		{ "reload force", REQUEST_RELOAD, 1, false },
		{ "flush .", REQUEST_FLUSH, 0, false },
		{ "flush tree .", REQUEST_FLUSH, 1, false },
		{ "pause 1", REQUEST_PAUSE, 1, false },
		{ "pause 86400\n", REQUEST_PAUSE, 86400, false },
		{ "resume", REQUEST_RESUME, 0, false },
		{ "rules", REQUEST_RULES, 0, false },
		{ "table\n", REQUEST_TABLE, 0, false },
		{ "cache", REQUEST_CACHE, 0, false },
		{ "running", REQUEST_RUNNING, 0, false },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(reads(good[i].line) && r.kind == good[i].kind &&
		    r.option == good[i].option &&
		    request_is_open(&r) == good[i].open);
	CHECK(reads("flush WWW.Example") && r.name.length == 13 &&
	    memcmp(r.name.octets, "\3www\7example", 13) == 0);
	CHECK(reads("flush tree tree") && r.option && r.name.length == 6);
}

TEST(others)
{
	static const char *const bad[] = { "", "\n", " status",
		"status  json", "status json json", "Status", "statusjson",
		"table json", "metrics all", "status all json", "flush",
		"pause", "pause 0", "pause 86401", "pause 4294967297", "pause 1m",
		"pause -1", "resume 1", "flush tree", "flush a..b", "stop",
		"reload\n\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!reads(bad[i]));
}
