/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/thread/answering_thread.h"

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_AGAIN_NS	200000

static bool
open_rules(struct generation *g, const char **why)
{
	size_t size;
	const uint8_t *octets = table_policy(g->table, &size);

	if (rules_open(&g->rules, octets, size, why) < 0)
		return false;
	g->policy.rules = g->rules;
	return true;
}

struct generation *
generation_open(uint64_t number, int image, int settings,
    const struct generation *before, const char **why)
{
	struct generation *g = calloc(1, sizeof(*g));

	*why = "out of memory";
	if (g == NULL)
		return NULL;
	g->number = number;
	if (settings >= 0 || before == NULL) {
		*why = settings_read(&g->settings, settings);
		forward_settings_place(&g->settings.forward,
		    before != NULL ? &before->settings.forward : NULL);
	} else {
		g->settings = before->settings;
		*why = NULL;
	}
	if (*why == NULL && table_open(&g->table, image, why) == 0 &&
	    open_rules(g, why))
		return g;
	generation_close(g);
	return NULL;
}

void
generation_close(struct generation *g)
{
	if (g == NULL)
		return;
	free(g->policy.counters);
	rules_close(g->rules);
	table_close(g->table);
	free(g);
}

const struct generation *
generation_get(generation_place *in_use, generation_place *current)
{
	const struct generation *g;

	do {
		g = atomic_load(current);
		atomic_store(in_use, g);
		/* Replaced in between: the main thread may not have seen ours. */
	} while (g != atomic_load(current));
	return g;
}

void
generation_put(generation_place *in_use)
{
	atomic_store_explicit(in_use, NULL, memory_order_release);
}

void
generation_pause(void)
{
	const struct timespec pause = { 0, LOOK_AGAIN_NS };

	(void)nanosleep(&pause, NULL);
}

void
generation_wait(generation_place *in_use, const struct generation *old)
{
	while (atomic_load(in_use) == old)
		generation_pause();
}
