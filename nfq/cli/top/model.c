/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t bounds[] = STATUS_SPENT_US;

const struct latency latencies[LATENCIES] = {
	{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
};

unsigned int
latency_bucket(const uint64_t counts[static STATUS_SPENT],
    unsigned int permille)
{
	double all = 0, sum = 0;
	unsigned int last = LATENCY_NONE;

	for (unsigned int i = 0; i < STATUS_SPENT; i++)
		all += (double)counts[i];
	for (unsigned int i = 0; i < STATUS_SPENT; i++) {
		if (counts[i] == 0)
			continue;
		last = i;
		sum += (double)counts[i];
		if (sum * 1000 >= all * permille)
			return i;
	}
	return last;
}

const char *
latency_text(unsigned int bucket, char text[static TOP_TEXT])
{
	const bool above = bucket == STATUS_SPENT - 1;
	const uint32_t us = bounds[above ? bucket - 1 :
	    bucket < STATUS_SPENT ? bucket : 0];

	if (bucket >= STATUS_SPENT)
		return "-";
	(void)snprintf(text, TOP_TEXT, "%c%" PRIu32 "%s", above ? '>' : '<',
	    us >= 1000000 ? us / 1000000 : us >= 1000 ? us / 1000 : us,
	    us >= 1000000 ? "s" : us >= 1000 ? "ms" : "us");
	return text;
}

const char *
latency_mean_text(uint64_t ns, char text[static TOP_TEXT])
{
	const double us = (double)ns / 1000;

	if (us < 1000)
		(void)snprintf(text, TOP_TEXT, "%.1fus", us);
	else if (us < 1000000)
		(void)snprintf(text, TOP_TEXT, "%.1fms", us / 1000);
	else
		(void)snprintf(text, TOP_TEXT, "%.1fs", us / 1000000);
	return text;
}

const char *
number_text(uint64_t number, char text[static TOP_TEXT])
{
	static const char units[] = "MGTPE";
	double shown = (double)number / 1000000;
	size_t unit = 0;

	if (number < 1000)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64, number);
	else if (number < 1000000)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ",%03" PRIu64,
		    number / 1000, number % 1000);
	else {
		for (; shown >= 999.5 && unit + 2 < sizeof(units); unit++)
			shown /= 1000;
		(void)snprintf(text, TOP_TEXT, "%.*f%c", shown < 9.995 ? 2 :
		    shown < 99.95 ? 1 : 0, shown, units[unit]);
	}
	return text;
}

const char *
rate_text(double rate, char text[static TOP_TEXT])
{
	if (!(rate >= 0.05))
		return "0";
	if (rate >= 9.95)
		return number_text(rate < 1e18 ? (uint64_t)(rate + 0.5) :
		    (uint64_t)1e18, text);
	(void)snprintf(text, TOP_TEXT, "%.1f", rate);
	return text;
}

const char *
span_text(uint64_t seconds, char text[static TOP_TEXT])
{
	const uint64_t days = seconds / 86400, hours = seconds / 3600 % 24;
	const uint64_t minutes = seconds / 60 % 60, rest = seconds % 60;

	if (days > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 "d %02" PRIu64
		    ":%02" PRIu64, days, hours, minutes);
	else if (hours > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ":%02" PRIu64
		    ":%02" PRIu64, hours, minutes, rest);
	else if (minutes > 0)
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 ":%02" PRIu64,
		    minutes, rest);
	else
		(void)snprintf(text, TOP_TEXT, "%" PRIu64 "s", rest);
	return text;
}

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
