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
		bool option, open;
	} good[] = {
		{ "status", REQUEST_STATUS, false, true },
		{ "status json\n", REQUEST_STATUS, true, true },
		{ "metrics", REQUEST_METRICS, false, true },
		{ "metrics openmetrics", REQUEST_METRICS, true, true },
		{ "page", REQUEST_PAGE, false, true },
		{ "reload", REQUEST_RELOAD, false, false },
		{ "reload force", REQUEST_RELOAD, true, false },
		{ "flush .", REQUEST_FLUSH, false, false },
		{ "flush tree .", REQUEST_FLUSH, true, false },
		{ "rules", REQUEST_RULES, false, false },
		{ "table\n", REQUEST_TABLE, false, false },
		{ "cache", REQUEST_CACHE, false, false },
		{ "running", REQUEST_RUNNING, false, false },
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
		"table json", "flush", "flush tree", "flush a..b", "stop",
		"reload\n\n" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!reads(bad[i]));
}
