/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds, by what nfdns-feed writes of them. */
#include <stdio.h>
#include <string.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

#define CLOCK_JUMP_MS	2000
/* A feed says how it is twice in that time. */
#define CLOCK_GRACE_MS	((int64_t)2 * FEED_STATUS_BEAT_S * 1000)

/* The first that is not well is what status says. */
static void
note(char problem[static FEED_HEALTH_TEXT], const struct mesh_source *source,
    const struct feed_report *report, int64_t now)
{
	const enum feed_health health = feed_status_health(report,
	    feed_status_table_time(source->path), source->stale_after, now);

	if (problem[0] == '\0' && feed_status_text(health, source->feed, report,
	    source->stale_after, now, problem) == NULL)
		problem[0] = '\0';
}

static void
show(struct supervisor *s, const char *problem)
{
	struct monitor_feeds *m = &s->monitor.feeds;

	if (strcmp(problem, m->problem) == 0)
		return;
	if (problem[0] != '\0')
		log_warning("%s", problem);
	else
		log_notice("all feeds are current");
	(void)snprintf(m->problem, sizeof(m->problem), "%s", problem);
	supervisor_show_state(s);
}

/*
 * The time of day has been set, or the machine was suspended: until the feeds
 * have written in the new time, nothing is older than it was.
 */
static bool
is_settling(struct monitor_feeds *m, int64_t now_ms, monotime_t now)
{
	const int64_t offset = now_ms - monotime_to_ms(now);
	const int64_t jump = offset - m->offset_ms;

	if (m->offset_ms != 0 && (jump > CLOCK_JUMP_MS ||
	    jump < -CLOCK_JUMP_MS))
		m->settled = monotime_add_ms(now, CLOCK_GRACE_MS);
	m->offset_ms = offset;
	return !monotime_is_past(now, m->settled);
}

void
monitor_feeds_tick(struct supervisor *s, int64_t now_ms, monotime_t now)
{
	struct monitor_feeds *m = &s->monitor.feeds;
	const struct mesh *mesh = &s->config->mesh;
	char problem[FEED_HEALTH_TEXT] = "";

	if (is_settling(m, now_ms, now))
		return;
	for (size_t i = 0; i < mesh->source_count; i++) {
		const struct mesh_source *source = &mesh->sources[i];
		struct feed_report report;

		if (source->feed == NULL)
			continue;
		(void)!feed_status_read(&report, s->config->feed_run_dir,
		    source->feed);
		note(problem, source, &report, now_ms / 1000);
	}
	show(s, problem);
}

