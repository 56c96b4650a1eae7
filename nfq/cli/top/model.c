/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/model.h"

#include <string.h>

static const char *const lists[TOP_LISTS] = {
	[TOP_NAMES] = "names",
	[TOP_USERS] = "users",
	[TOP_RULES] = "rules",
	[TOP_TYPES] = "types",
	[TOP_VERDICTS] = "verdicts",
	[TOP_DECISIONS] = "decisions",
	[TOP_LATENCY] = "latency",
};

const char *
top_list_text(enum top_list list)
{
	return lists[list];
}

bool
top_list_read(enum top_list *list, const char *text)
{
	for (int i = 0; i < TOP_LISTS; i++)
		if (strcmp(lists[i], text) == 0) {
			*list = (enum top_list)i;
			return true;
		}
	return false;
}

bool
top_model_has_rates(const struct top_model *m)
{
	return m->now.running && m->before.running &&
	    m->now.when.ns > m->before.when.ns;
}

double
top_rate(const struct top_model *m, uint64_t before, uint64_t now)
{
	if (!top_model_has_rates(m) || now <= before)
		return 0;
	return (double)(now - before) * 1e9 /
	    (double)(m->now.when.ns - m->before.when.ns);
}

void
top_model_take(struct top_model *m, struct top_reading *reading)
{
	top_reading_free(&m->before);
	m->before = m->now;
	m->now = *reading;
	*reading = (struct top_reading){ .running = false };
	if (m->before.pid != m->now.pid || m->before.started != m->now.started)
		top_reading_free(&m->before);
}

void
top_model_free(struct top_model *m)
{
	top_reading_free(&m->now);
	top_reading_free(&m->before);
}

void
top_model_spent(const struct top_model *m, uint64_t counts[static STATUS_SPENT],
    uint64_t *ns)
{
	const struct status_counters *now = &m->now.counters;
	const struct status_counters *before = &m->before.counters;
	bool any = false;

	for (size_t i = 0; i < STATUS_SPENT; i++) {
		counts[i] = top_model_has_rates(m) &&
		    now->spent[i] > before->spent[i] ?
		    now->spent[i] - before->spent[i] : 0;
		any = any || counts[i] > 0;
	}
	*ns = any && now->spent_ns > before->spent_ns ?
	    now->spent_ns - before->spent_ns : 0;
	if (any)
		return;
	memcpy(counts, now->spent, sizeof(now->spent));
	*ns = now->spent_ns;
}
