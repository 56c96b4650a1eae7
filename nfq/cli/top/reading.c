/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/model.h"

#include <errno.h>
#include <stdlib.h>

static void
read_supervisor(struct top_reading *r, const struct status_page *page)
{
	const struct status_supervisor *s = page->supervisor;

	r->running = true;
	r->state = atomic_load(&s->state);
	status_degraded(page, r->degraded);
	r->pid = atomic_load(&s->pid);
	r->started = atomic_load(&s->started);
	r->restarts = atomic_load(&s->restarts);
	r->table_generation = atomic_load(&s->table_generation);
	r->table_names = atomic_load(&s->table_names);
	r->table_loaded = atomic_load(&s->table_loaded);
}

int
top_read(struct top_reading *r, const struct status_page *page,
    const struct hitters *hitters, monotime_t now, int64_t time)
{
	int error = 0;

	*r = (struct top_reading){ .when = now, .time = time };
	read_supervisor(r, page);
	status_counters(page, &r->counters);
	r->rule_count = policy_status_read(page->policy, &r->rules) + 1;
	if (r->rules == NULL)
		return -ENOMEM;
	r->watches = hitters != NULL;
	for (int kind = 0; kind < HITTERS_KINDS && r->watches && error == 0;
	    kind++)
		error = hitters_list_read(&r->hitters[kind], hitters,
		    (enum hitters_kind)kind, now);
	return error;
}

void
top_reading_free(struct top_reading *r)
{
	free(r->rules);
	for (int kind = 0; kind < HITTERS_KINDS; kind++)
		hitters_list_free(&r->hitters[kind]);
	*r = (struct top_reading){ .running = false };
}
