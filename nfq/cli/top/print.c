/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "nfq/cli/top/model.h"
#include "resolver/text/json_write.h"
#include "resolver/text/printable.h"

#define LINE_MAX_OCTETS	(NAME_TEXT_SIZE + 256)
#define HEAD_LINES	6
#define LIST_LINES	3		/* of a list besides its rows */
#define LINES_OF_LIST	10

/* Lines of so many columns at most; 0: of any length. */
struct top_out {
	FILE *file;
	unsigned int columns;
};

static void line(const struct top_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Printable ASCII, whatever the page says. */
static void
line(const struct top_out *out, const char *format, ...)
{
	char text[LINE_MAX_OCTETS], shown[4 * LINE_MAX_OCTETS];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)printable_text(shown, sizeof(shown), text, strlen(text));
	(void)fprintf(out->file, "%.*s\n", out->columns > 0 ?
	    (int)out->columns : (int)sizeof(shown), shown);
}

static uint64_t
seconds_since(const struct top_reading *r, uint64_t then)
{
	return r->time > 0 && (uint64_t)r->time > then ?
	    (uint64_t)r->time - then : 0;
}

static void
print_state(const struct top_out *out, const struct top_reading *r)
{
	const uint32_t state = r->state <= STATUS_STOPPING ? r->state :
	    STATUS_STARTING;
	const time_t time = (time_t)r->time;
	char clock[TOP_TEXT] = "", up[TOP_TEXT], restarts[TOP_TEXT];
	char names[TOP_TEXT], age[TOP_TEXT];
	struct tm tm;

	if (localtime_r(&time, &tm) != NULL)
		(void)strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (!r->running) {
		line(out, "%s nfdnsd is not running", clock);
		line(out, "%s", "");
		return;
	}
	line(out, "%s nfdnsd is %s, up %s, worker restarts: %s", clock,
	    status_state_text(state), span_text(seconds_since(r, r->started),
	    up), number_text(r->restarts, restarts));
	if (r->state == STATUS_DEGRADED)
		line(out, "degraded: %s", r->degraded);
	else if (r->table_generation == 0)
		line(out, "no table has loaded yet");
	else
		line(out, "table %" PRIu64 ": %s names, %s old",
		    r->table_generation, number_text(r->table_names, names),
		    span_text(seconds_since(r, r->table_loaded), age));
}

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

/* Titles, what happened each second, and since the start. */
static void
print_numbers(const struct top_out *out, const struct top_model *m)
{
	char rows[3][NUMBERS * TOP_TEXT] = { "" }, text[TOP_TEXT];
	size_t at = 0;

	for (size_t i = 0; i < NUMBERS; i++, at += 10) {
		const uint64_t now = number_of(&m->now, i);

		(void)snprintf(rows[0] + at, TOP_TEXT, "%10s", numbers[i].title);
		(void)snprintf(rows[1] + at, TOP_TEXT, "%10s",
		    !top_model_has_rates(m) ? "-" :
		    rate_text(top_rate(m, number_of(&m->before, i), now),
		    text));
		(void)snprintf(rows[2] + at, TOP_TEXT, "%10s",
		    m->now.running ? number_text(now, text) : "-");
	}
	line(out, "%-12s%s", "", rows[0]);
	line(out, "%-12s%s", "per second", rows[1]);
	line(out, "%-12s%s", "since start", rows[2]);
}

static void
print_latency(const struct top_out *out, const struct top_model *m)
{
	uint64_t counts[STATUS_SPENT], ns, all = 0;
	char shown[LATENCIES * 2 * TOP_TEXT] = "", text[TOP_TEXT];
	int used = 0;

	top_model_spent(m, counts, &ns);
	for (size_t i = 0; i < STATUS_SPENT; i++)
		all += counts[i];
	for (size_t i = 0; i < LATENCIES; i++)
		used += snprintf(shown + used, sizeof(shown) - (size_t)used,
		    "%s %s  ", latencies[i].title, latency_text(
		    latency_bucket(counts, latencies[i].permille), text));
	line(out, "%-13s%smean %s", "latency", shown, all > 0 ?
	    latency_mean_text(ns / all, text) : "-");
}

static void
print_head(const struct top_out *out, const struct top_model *m)
{
	print_state(out, &m->now);
	print_numbers(out, m);
	print_latency(out, m);
}

/* The label's title, and what is counted. */
static const struct {
	const char *label, *caption;
} texts[TOP_LISTS] = {
	[TOP_NAMES] = { "name", "names" },
	[TOP_USERS] = { "user", "users" },
	[TOP_RULES] = { "rule", "questions that a rule of the policy matched" },
	[TOP_TYPES] = { "type", "questions by type" },
	[TOP_VERDICTS] = { "verdict", "questions by what was done" },
	[TOP_DECISIONS] = { "decision", "questions by the reason why" },
	[TOP_LATENCY] = { "answered in", "questions that were measured" },
};

static void
print_caption(const struct top_out *out, const struct top_model *m,
    enum top_list list)
{
	const struct hitters_list *h = list == TOP_NAMES ?
	    &m->now.hitters[HITTERS_NAMES] : &m->now.hitters[HITTERS_USERS];
	char total[TOP_TEXT], others[TOP_TEXT];

	if (list != TOP_NAMES && list != TOP_USERS)
		line(out, "since start: %s", texts[list].caption);
	else if (!m->now.watches)
		line(out, "only root may see names and users");
	else if (h->covered_ns == 0)
		line(out, "nfdnsd begins to count %s", texts[list].caption);
	else
		line(out, "last %" PRId64 "s: %s questions; %s not listed: %s%s",
		    (h->covered_ns / 100000000 + 5) / 10,
		    number_text(h->total, total), texts[list].caption,
		    h->others == 0 ? "none" : "at most ", h->others == 0 ? "" :
		    number_text(h->others, others));
}

static void
print_row(const struct top_out *out, const struct top_row *r, uint64_t total)
{
	char rate[TOP_TEXT], count[TOP_TEXT], more[TOP_TEXT + 1] = "";

	if (r->more > 0) {
		char text[TOP_TEXT];

		(void)snprintf(more, sizeof(more), "+%s",
		    number_text(r->more, text));
	}
	line(out, "%7s %10s %8s %6.1f%%  %s", rate_text(r->rate, rate),
	    number_text(r->count, count), more, total > 0 ?
	    100 * (double)r->count / (double)total : 0.0, r->label);
}

/* An empty line, two of titles, and "most" rows at most. */
static int
print_list(const struct top_out *out, const struct top_model *m,
    enum top_list list, size_t most)
{
	struct top_rows rows;
	const int error = top_rows_read(&rows, m, list);

	line(out, "%s", "");
	print_caption(out, m, list);
	line(out, "%7s %10s %8s %7s  %s", "per sec", "questions",
	    list == TOP_NAMES || list == TOP_USERS ? "or more" : "", "share",
	    texts[list].label);
	for (size_t i = 0; i < rows.count && i < most; i++)
		print_row(out, &rows.rows[i], rows.total);
	top_rows_free(&rows);
	return error;
}

int
top_print(const struct top_model *m, const struct top_view *view, FILE *file)
{
	const struct top_out out = { file, view->columns };
	size_t left = view->rows > 0 ? view->rows - 1U : SIZE_MAX;
	int error = 0;

	print_head(&out, m);
	left -= left < HEAD_LINES ? left : HEAD_LINES;
	for (int i = 0; i < TOP_LISTS && error == 0 && left > LIST_LINES; i++) {
		const size_t room = left - LIST_LINES;
		const size_t most = view->only ? room : view->rows == 0 ?
		    LINES_OF_LIST : room < LINES_OF_LIST ? room : room / 2;

		if (view->only && i != (int)view->list)
			continue;
		error = print_list(&out, m, (enum top_list)i, most);
		left -= view->rows > 0 ? LIST_LINES + most : 0;
	}
	return error;
}

static void
write_rows(struct json_write *w, const struct top_rows *rows)
{
	json_write_number(w, "total", rows->total);
	json_write_open(w, "rows", '[');
	for (size_t i = 0; i < rows->count; i++) {
		const struct top_row *r = &rows->rows[i];

		json_write_open(w, NULL, '{');
		json_write_text(w, "name", r->label);
		json_write_number(w, "count", r->count);
		json_write_number(w, "more", r->more);
		json_write_real(w, "rate", r->rate);
		json_write_close(w, '}');
	}
	json_write_close(w, ']');
}

/* The list and what is known of those that are not in it. */
static void
write_list(struct json_write *w, const struct top_model *m,
    enum top_list list)
{
	const struct hitters_list *h = list == TOP_NAMES ?
	    &m->now.hitters[HITTERS_NAMES] : list == TOP_USERS ?
	    &m->now.hitters[HITTERS_USERS] : NULL;
	struct top_rows rows;
	const int error = top_rows_read(&rows, m, list);

	if (error < 0)
		w->error = error;
	json_write_open(w, top_list_text(list), '{');
	write_rows(w, &rows);
	if (h != NULL) {
		json_write_real(w, "seconds", (double)h->covered_ns / 1e9);
		json_write_number(w, "not_listed", h->others);
	}
	json_write_close(w, '}');
	top_rows_free(&rows);
}

/* Upper bounds in microseconds; null: above all, or nothing was measured. */
static void
write_latency(struct json_write *w, const struct top_model *m)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;
	uint64_t counts[STATUS_SPENT], ns;

	top_model_spent(m, counts, &ns);
	json_write_open(w, "latency_us", '{');
	for (size_t i = 0; i < LATENCIES; i++) {
		const unsigned int bucket = latency_bucket(counts,
		    latencies[i].permille);

		if (bucket < STATUS_SPENT - 1)
			json_write_number(w, latencies[i].title,
			    bounds[bucket]);
		else
			json_write_text(w, latencies[i].title, NULL);
	}
	json_write_close(w, '}');
}

int
top_print_json(const struct top_model *m, FILE *out)
{
	const struct status_counters *now = &m->now.counters;
	const struct status_counters *before = &m->before.counters;
	struct json_write w = { .out = out };

	json_write_open(&w, NULL, '{');
	json_write_integer(&w, "time", m->now.time);
	json_write_bool(&w, "ready", m->now.state == STATUS_READY ||
	    m->now.state == STATUS_DEGRADED);
	json_write_number(&w, "received", now->received);
	json_write_number(&w, "unseen", now->unseen);
	json_write_real(&w, "rate",
	    top_rate(m, before->received, now->received));
	write_latency(&w, m);
	for (int i = 0; i < TOP_LISTS; i++)
		write_list(&w, m, (enum top_list)i);
	json_write_close(&w, '}');
	return json_write_end(&w);
}
