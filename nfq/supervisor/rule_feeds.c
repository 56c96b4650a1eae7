/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of rules that others write, while the daemon runs. */
#include <stdio.h>
#include <string.h>

#include "nfq/supervisor/parts.h"
#include "policy/log.h"

static const struct rule_feed *
find(const struct rule_feeds *feeds, const char *name)
{
	for (size_t i = 0; i < feeds->count; i++)
		if (strcmp(feeds->list[i].name, name) == 0)
			return &feeds->list[i];
	return NULL;
}

/* Warnings say what is wrong at each load; that it is over is said once. */
static void
log_recovered(const struct rule_feeds *before, const struct rule_feeds *now)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct rule_feed *feed = &now->list[i];
		const struct rule_feed *old = find(before, feed->name);

		if (old != NULL && old->state != RULES_FEED_CURRENT &&
		    feed->state == RULES_FEED_CURRENT)
			log_notice("%s: is in use again, %llu names",
			    feed->path, (unsigned long long)feed->names);
	}
}

static void
count(struct status_supervisor *page, const struct rule_feeds *feeds)
{
	uint32_t sums[STATUS_RULE_FILES] = { 0 };

	for (size_t i = 0; i < feeds->count; i++)
		sums[feeds->list[i].state == RULES_FEED_CURRENT ?
		    STATUS_RULES_CURRENT :
		    feeds->list[i].state == RULES_FEED_UNLOADED ?
		    STATUS_RULES_UNLOADED : STATUS_RULES_KEPT]++;
	for (size_t i = 0; i < STATUS_RULE_FILES; i++)
		atomic_store(&page->rule_files[i], sums[i]);
}

void
supervisor_take_feeds(struct supervisor *s, struct rule_feeds *next)
{
	rule_feeds_commit(next);
	if (next->trouble[0] != '\0')
		log_warning("%s", next->trouble);
	log_recovered(&s->feeds, next);
	rule_feeds_close(&s->feeds);
	s->feeds = *next;
	memset(next, 0, sizeof(*next));
	rule_feeds_problem(&s->feeds, s->feeds_problem,
	    sizeof(s->feeds_problem));
	count(s->status.supervisor, &s->feeds);
}

/*
 * A file that is not in use is looked at, whether files are watched or not: its
 * writer mends it, and nobody has to notice.  One that is being written is looked
 * at again a second later.
 */
enum reload_wish
supervisor_feeds_tick(struct supervisor *s)
{
	enum reload_wish wish = RELOAD_NOTHING;

	for (size_t i = 0; i < s->feeds.count; i++) {
		struct rule_feed *feed = &s->feeds.list[i];

		if (feed->state != RULES_FEED_CURRENT &&
		    rule_feed_changed(feed))
			wish = RELOAD_TABLES;
	}
	return wish;
}
