/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "nfq/cli/top/draw_parts.h"
#include "nfq/cli/top/latency.h"

#define NUMBER_WIDTH	10

static uint64_t
seconds_since(const struct top_reading *r, uint64_t then)
{
	return r->time > 0 && (uint64_t)r->time > then ?
	    (uint64_t)r->time - then : 0;
}

static void
draw_clock(struct screen *s, const struct top_reading *r, unsigned int used)
{
	const time_t time = (time_t)r->time;
	char text[TOP_TEXT];
	struct tm tm;

	if (localtime_r(&time, &tm) == NULL ||
	    strftime(text, sizeof(text), "%H:%M:%S", &tm) == 0)
		return;
	if (used + 1 + strlen(text) <= s->columns)
		(void)screen_put(s, 0, s->columns -
		    (unsigned int)strlen(text), STYLE_PLAIN, "%s", text);
}

static unsigned int
draw_title(struct screen *s, const struct top_reading *r)
{
	const uint32_t state = r->state <= STATUS_STOPPING ? r->state :
	    STATUS_STARTING;
	char text[TOP_TEXT];
	unsigned int column = screen_put(s, 0, 0, STYLE_STRONG, "nfdns top - ");

	if (!r->running)
		column = screen_put(s, 0, column, STYLE_BAD,
		    "nfdnsd is not running");
	else {
		column = screen_put(s, 0, column, state == STATUS_READY ?
		    STYLE_GOOD : STYLE_BAD, "%s", status_state_text(state));
		column = screen_put(s, 0, column, STYLE_PLAIN, ", up %s",
		    span_text(seconds_since(r, r->started), text));
	}
	if (r->running && r->restarts > 0 && s->columns >= 70)
		column = screen_put(s, 0, column, STYLE_BAD,
		    ", worker restarts: %s", number_text(r->restarts, text));
	draw_clock(s, r, column);
	return 1;
}

static unsigned int
draw_table(struct screen *s, unsigned int row, const struct top_reading *r)
{
	char names[TOP_TEXT], age[TOP_TEXT];

	if (!r->running)
		return row;
	if (r->state == STATUS_DEGRADED)
		(void)screen_put(s, row, 0, STYLE_BAD, "degraded: %s",
		    r->degraded);
	else if (r->table_generation == 0)
		(void)screen_put(s, row, 0, STYLE_BAD,
		    "no table has loaded yet");
	else
		(void)screen_put(s, row, 0, STYLE_PLAIN, "table %" PRIu64
		    ": %s names, %s old", r->table_generation,
		    number_text(r->table_names, names),
		    span_text(seconds_since(r, r->table_loaded), age));
	return row + 1;
}

/* Most important first: a narrow screen shows the first ones. */
static const struct {
	const char *title;
	size_t offset;			/* in struct status_counters */
} numbers[] = {
	{ "questions", offsetof(struct status_counters, received) },
	{ "answered", offsetof(struct status_counters, answered) },
	{ "passed", offsetof(struct status_counters, passed) },
	{ "unseen", offsetof(struct status_counters, unseen) },
	{ "forwarded", offsetof(struct status_counters, forwarded) },
	{ "refused", offsetof(struct status_counters, refused) },
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t
number_of(const struct top_reading *r, size_t number)
{
	uint64_t value;

	memcpy(&value, (const char *)&r->counters + numbers[number].offset,
	    sizeof(value));
	return value;
}

static unsigned int
draw_numbers(struct screen *s, unsigned int row, const struct top_model *m)
{
	unsigned int column = DRAW_LABELS;
	char text[TOP_TEXT];

	(void)screen_put(s, row + 1, 0, STYLE_PLAIN, "per second");
	(void)screen_put(s, row + 2, 0, STYLE_PLAIN, "since start");
	for (size_t i = 0; i < NUMBERS &&
	    column + NUMBER_WIDTH <= s->columns; i++) {
		const uint64_t now = number_of(&m->now, i);

		(void)screen_put(s, row, column, STYLE_PLAIN, "%*s",
		    NUMBER_WIDTH, numbers[i].title);
		(void)screen_put(s, row + 1, column, STYLE_STRONG, "%*s",
		    NUMBER_WIDTH, !top_model_has_rates(m) ? "-" :
		    rate_text(top_rate(m, number_of(&m->before, i), now),
		    text));
		(void)screen_put(s, row + 2, column, STYLE_PLAIN, "%*s",
		    NUMBER_WIDTH, m->now.running ? number_text(now, text) :
		    "-");
		column += NUMBER_WIDTH;
	}
	return row + 3;
}

static unsigned int
draw_latency(struct screen *s, unsigned int row, const struct top_model *m)
{
	uint64_t counts[STATUS_SPENT], ns, all = 0;
	unsigned int column = DRAW_LABELS + 1;
	char text[TOP_TEXT];

	top_model_spent(m, counts, &ns);
	for (size_t i = 0; i < STATUS_SPENT; i++)
		all += counts[i];
	(void)screen_put(s, row, 0, STYLE_PLAIN, "latency");
	for (size_t i = 0; i < LATENCIES && column + 12 <= s->columns; i++) {
		column = screen_put(s, row, column, STYLE_PLAIN, "%s ",
		    latencies[i].title);
		column = 2 + screen_put(s, row, column, STYLE_STRONG, "%s",
		    latency_text(latency_bucket(counts, latencies[i].permille),
		    text));
	}
	if (all > 0 && column + 14 <= s->columns)
		(void)screen_put(s, row, column, STYLE_PLAIN, "mean %s",
		    latency_mean_text(ns / all, text));
	return row + 1;
}

unsigned int
draw_head(struct screen *s, const struct top_model *m, unsigned int rows)
{
	unsigned int row = draw_title(s, &m->now);

	if (rows >= 10)
		row = draw_table(s, row, &m->now);
	if (rows >= 6)
		row = draw_numbers(s, row, m);
	if (rows >= 10)
		row = draw_latency(s, row, m);
	return row;
}

static double
highest(const struct top_model *m, size_t first)
{
	double most = 0;

	for (size_t i = first; i < m->history_count; i++)
		if (m->history[i] > most)
			most = m->history[i];
	return most;
}

/* The height of one rate in eighths; a rate above 0 can be seen. */
static unsigned int
eighths(double rate, double most, unsigned int height)
{
	const double full = (double)height * SCREEN_LEVELS;
	const unsigned int n = most > 0 ? (unsigned int)(rate / most * full +
	    0.5) : 0;

	return n == 0 && rate > 0 ? 1 : n;
}

unsigned int
draw_graph(struct screen *s, unsigned int row, const struct top_model *m,
    unsigned int height)
{
	const unsigned int from = DRAW_LABELS + 2;
	const size_t room = s->columns > from ? s->columns - from : 0;
	const size_t count = m->history_count < room ? m->history_count : room;
	const size_t first = m->history_count - count;
	const double most = highest(m, first);
	char text[TOP_TEXT];

	(void)screen_put(s, row, 0, STYLE_PLAIN, "most %s/s",
	    rate_text(most, text));
	for (size_t i = 0; i < count; i++) {
		const unsigned int column = (unsigned int)(s->columns - count +
		    i);
		unsigned int left = eighths(m->history[first + i], most,
		    height);

		for (unsigned int n = height; n-- > 0 && left > 0;) {
			struct screen_cell *cell;
			const unsigned int part = left < SCREEN_LEVELS ? left :
			    SCREEN_LEVELS;

			left -= part;
			if (row + n >= s->rows)
				continue;
			cell = screen_at(s, row + n, column);
			cell->glyph = (uint8_t)part;
			cell->style = STYLE_GRAPH;
		}
	}
	return row + height;
}
