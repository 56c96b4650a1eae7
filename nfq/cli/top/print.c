/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns top" prints where it has no terminal. */
#include <errno.h>

#include "nfq/cli/top/draw_parts.h"
#include "nfq/cli/top/latency.h"
#include "resolver/text/json_write.h"

#define HEAD_ROWS	10
#define HEAD_COLUMNS	80
#define LIST_COLUMNS	(NAME_TEXT_SIZE + 64)	/* no name is cut */

static int
print_head(const struct top_model *m, FILE *out)
{
	struct screen s;

	if (screen_new(&s, HEAD_ROWS, HEAD_COLUMNS) < 0)
		return -ENOMEM;
	(void)draw_head(&s, m, HEAD_ROWS);
	screen_print(&s, false, out);
	screen_free(&s);
	return 0;
}

static int
print_list(const struct top_model *m, const struct top_view *view, size_t most,
    FILE *out)
{
	struct top_view v = *view;
	struct top_rows rows;
	struct screen s = { .cells = NULL };
	unsigned int row, height;
	int error;

	v.scroll = 0;
	v.plain = true;
	error = top_rows_read(&rows, m, v.list, v.sort);
	height = 2 + (unsigned int)(rows.count < most ? rows.count : most);
	if (error == 0)
		error = screen_new(&s, height < SCREEN_MAX ? height :
		    SCREEN_MAX, LIST_COLUMNS);
	if (error == 0) {
		row = draw_caption(&s, 0, m, v.list);
		(void)draw_rows(&s, row, &rows, &v);
		(void)fputc('\n', out);
		screen_print(&s, false, out);
	}
	screen_free(&s);
	top_rows_free(&rows);
	return error;
}

int
top_print(const struct top_model *m, const struct top_view *view, bool only,
    size_t most, FILE *out)
{
	struct top_view v = *view;
	int error = print_head(m, out);

	for (int i = 0; i < TOP_LISTS && error == 0; i++) {
		if (only && i != (int)view->list)
			continue;
		v.list = (enum top_list)i;
		error = print_list(m, &v, most, out);
	}
	return error < 0 ? error : ferror(out) ? -EIO : 0;
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
	const int error = top_rows_read(&rows, m, list, TOP_BY_COUNT);

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
