/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/first_table.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nfq/cli/message.h"
#include "nfq/cli/progress.h"
#include "nfq/process/compiler.h"
#include "nfq/process/exit_code.h"
#include "policy/status/feed_status.h"
#include "resolver/clock.h"
#include "resolver/image/table.h"
#include "resolver/listing/table_list.h"
#include "resolver/text/printable.h"

#define LOOK_MS		100
#define EXAMPLE_NAMES	100000	/* to compile more takes seconds */

/*
 * A name that is worth asking for: of the machine's own namespace, or else the
 * first that is no wildcard.
 */
static const char *
choose(const struct table_list *list, const char *namespace)
{
	const char *first = NULL;
	char own[80];

	(void)snprintf(own, sizeof(own), ".%.63s.svc.",
	    namespace != NULL ? namespace : "");
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i].name;

		if (name[0] == '*')
			continue;
		if (namespace != NULL && strstr(name, own) != NULL)
			return name;
		if (first == NULL)
			first = name;
	}
	return first;
}

/* Without the dot of the root. */
static int
length_of(const char *name)
{
	const size_t length = strlen(name);

	return (int)(length > 1 && name[length - 1] == '.' ? length - 1 :
	    length);
}

/* An image of the feed's table alone: an fd, or a negative errno. */
static int
compile_feed(const struct config *config, const char *feed, struct diag *diag)
{
	struct config one = *config;

	for (size_t i = 0; i < config->mesh.source_count; i++) {
		struct mesh_source *source = &config->mesh.sources[i];

		if (source->feed == NULL || strcmp(source->feed, feed) != 0)
			continue;
		one.mesh.sources = source;
		one.mesh.source_count = 1;
		one.policy.rule_count = one.policy.set_count = 0;
		return compiler_run(&one, diag);
	}
	return -ENOENT;
}

static void
print_example(const struct config *config, const char *feed,
    const char *namespace)
{
	struct table_list list = { .names = NULL };
	struct diag diag = DIAG_INIT;
	struct table *table = NULL;
	const char *why, *name = NULL;
	const int fd = compile_feed(config, feed, &diag);

	if (fd >= 0 && table_open(&table, fd, &why) == 0 &&
	    table_list_make(&list, table) == 0)
		name = choose(&list, namespace);
	if (name != NULL)
		(void)printf("Try one:\n  dig %.*s\n", length_of(name), name);
	table_list_free(&list);
	table_close(table);
	if (fd >= 0)
		(void)close(fd);
	diag_free(&diag);
}

static int
has_come(const struct config *config, const char *feed, const char *namespace,
    const struct feed_report *report)
{
	printable_line(stdout, "Connected to %s: %" PRIu64 " name%s.",
	    report->status.peer, report->kept.names,
	    report->kept.names == 1 ? "" : "s");
	if (report->kept.names > EXAMPLE_NAMES)
		(void)puts("See them:\n  nfdns table list");
	else if (report->kept.names > 0)
		print_example(config, feed, namespace);
	return EXIT_OK;
}

static int
has_not_come(const struct feed_report *report, unsigned int seconds,
    const char *name)
{
	const char *why = report->written == 0 ?
	    "nfdns-feed does not run, or says nothing" :
	    report->status.error[0] != '\0' ? report->status.error :
	    report->kept.error[0] != '\0' ? report->kept.error :
	    "nothing has gone wrong yet";

	cli_error("join: no table after %u s: %s; it may still come: see "
	    "\"nfdns status\", feed.%s", seconds, why, name);
	return EXIT_DEGRADED;
}

int
first_table_wait(const struct config *config, const char *name,
    const char *namespace, int64_t since, unsigned int seconds)
{
	const monotime_t end = monotime_add_ms(monotime_now(),
	    (int64_t)seconds * 1000);
	struct feed_report report;
	bool came = false;

	progress_start("waiting for the first table");
	do {
		if (feed_status_read(&report, config->feed_run_dir, name) != 0 ||
		    report.written < since)
			report = (struct feed_report){ .written = 0 };
		came = report.status.connected && report.kept.time > 0;
		if (!came)
			(void)poll(NULL, 0, LOOK_MS);
	} while (!came && !monotime_is_past(monotime_now(), end));
	progress_stop();
	return came ? has_come(config, name, namespace, &report) :
	    has_not_come(&report, seconds, name);
}
