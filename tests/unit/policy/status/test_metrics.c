/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What metrics say of files; tests/net/test_metrics has the daemon's. */
#include "policy/status/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

static char dir[] = "/tmp/nfdns-metrics-XXXXXX";

/* To be freed. */
static char *
printed(const struct status_page *page, const struct load_report *load,
    const struct feeds_shown *feeds)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(metrics_print(page, load, feeds, false, out) == 0);
	CHECK(fclose(out) == 0);
	return text;
}

static void
moments_are_seconds_since_1970(void)
{
	struct feed_shown feed = { .name = "mesh",
	    .report = { .current = 1700000001 } };
	const struct feeds_shown feeds = { &feed, 1 };
	char path[] = "/etc/hosts";
	struct load_source source = { .path = path, .changed = 1700000002 };
	const struct load_report load = { .sources = &source,
	    .source_count = 1 };
	struct status_page page;
	char *text;

	CHECK(status_create(&page, dir, 1) == 0);
	atomic_store(&page.supervisor->started, 1700000003);
	text = printed(&page, &load, &feeds);
	CHECK(strstr(text, "\nnfdns_feed_current_time_seconds{feed=\"mesh\"} "
	    "1700000001\n") != NULL);
	CHECK(strstr(text, "\nnfdns_table_source_changed_time_seconds{path="
	    "\"/etc/hosts\"} 1700000002\n") != NULL);
	CHECK(strstr(text, "\nnfdns_start_time_seconds 1700000003\n") != NULL);
	free(text);
	status_remove(&page, dir);
}

int
main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (mkdtemp(dir) == NULL)
		return 1;
	TEST(moments_are_seconds_since_1970);
	(void)rmdir(dir);
	return test_summary();
}
