/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of a page and of files; tests/net/test_metrics has the daemon's. */
#include "policy/status/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/status/facts.h"
#include "tests/check.h"

static char dir[] = "/tmp/nfdns-metrics-XXXXXX", hosts[] = "/etc/hosts";
static char feed[] = "mesh", kept[] = "/nonexistent/mesh.table";
static struct mesh_source sources[] = {
	{ .path = hosts, .changed = 1700000002 },
	{ .path = kept, .feed = feed, .stale_after = 900 },
};
static struct config config = { .feed_run_dir = dir,
	.mesh = { .sources = sources, .source_count = 2 } };

/* To be freed. */
static char *
printed(const struct status_page *page, bool open)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(metrics_print(page, &config, open, out) == 0);
	CHECK(fclose(out) == 0);
	return text;
}

/* One of all that there may be several of. */
static void
fill(struct status_page *page)
{
	struct feed_report report = { .type = "xds", .current = 1700000001 };

	page->forwarding->upstreams = page->forwarding->domains = 1;
	page->forwarding->upstream[0].text[0] = 'u';
	atomic_store(&page->policy->rules[0].number, 1);
	page->supervisor->queues = 1;
	atomic_store(&page->supervisor->started, 1700000003);
	CHECK(feed_status_write(&report, dir, "mesh") == 0);
	atomic_store(&page->supervisor->table_generation, 1);
	page->workers[0].interfaces.of[0].name[0] = 'i';
	atomic_store(&page->workers[0].interfaces.of[0].verdicts[VERDICT_PASS], 3);
}

static void
moments_are_seconds_since_1970(const char *text)
{
	CHECK(strstr(text, "\nnfdns_feed_current_time_seconds{feed=\"mesh\"} "
	    "1700000001\n") != NULL);
	CHECK(strstr(text, "\nnfdns_table_source_changed_time_seconds{path="
	    "\"/etc/hosts\"} 1700000002\n") != NULL);
	CHECK(strstr(text, "\nnfdns_start_time_seconds 1700000003\n") != NULL);
}

/* A family has one head, and at least one sample behind it. */
static void
all_families_have_samples(char *text)
{
	char seen[200][64];
	size_t families = 0;

	for (char *at = text, *end; (at = strstr(at, "# TYPE ")) != NULL;
	    at = end) {
		char *name = seen[families++];

		CHECK(sscanf(at, "# TYPE %63s", name) == 1);
		for (size_t i = 0; i + 1 < families; i++)
			CHECK(strcmp(seen[i], name) != 0);
		end = strchr(at, '\n') + 1;
		CHECK(strncmp(end, name, strlen(name)) == 0);
	}
	for (size_t row = 0; row < facts_rows; row++) {
		bool found = facts_table[row].metric == NULL;

		for (size_t i = 0; i < families && !found; i++)
			found = strcmp(seen[i], facts_table[row].metric) == 0;
		CHECK(found);
	}
}

TEST(every_fact_is_in_its_family)
{
	char path[128];
	struct status_page page;
	char *text;

	CHECK(status_create(&page, 1) == 0);
	fill(&page);
	text = printed(&page, false);
	moments_are_seconds_since_1970(text);
	all_families_have_samples(text);
	free(text);
	text = printed(&page, true);
	CHECK(strstr(text, "# TYPE nfdns_reloads counter\n"
	    "nfdns_reloads_total 0\n") != NULL);
	CHECK(strcmp(text + strlen(text) - 6, "# EOF\n") == 0);
	free(text);
	(void)snprintf(path, sizeof(path), "%s/mesh.json", dir);
	(void)unlink(path);
	status_close(&page);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	test_run();
	(void)rmdir(dir);
	return test_summary();
}
