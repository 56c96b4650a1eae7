/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "nfdns top" prints where it has no terminal. */
#include <errno.h>
#include <jansson.h>

#include "nfq/top/draw_parts.h"
#include "nfq/top/latency.h"

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

/* JSON has no numbers above 2^63, and a hostile page has any. */
static json_t *
number(uint64_t value)
{
	return json_integer((json_int_t)(value & INT64_MAX));
}

static json_t *
json_of_rows(const struct top_rows *rows)
{
	json_t *array = json_array();

	for (size_t i = 0; i < rows->count && array != NULL; i++) {
		const struct top_row *r = &rows->rows[i];

		if (json_array_append_new(array, json_pack(
		    "{s:s, s:o, s:o, s:f}", "name", r->label, "count",
		    number(r->count), "more", number(r->more), "rate",
		    r->rate)) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}

/* The list and what is known of those that are not in it. */
static json_t *
json_of_list(const struct top_model *m, enum top_list list)
{
	const struct hitters_list *h = list == TOP_NAMES ?
	    &m->now.hitters[HITTERS_NAMES] : list == TOP_USERS ?
	    &m->now.hitters[HITTERS_USERS] : NULL;
	struct top_rows rows;
	json_t *object = NULL;

	if (top_rows_read(&rows, m, list, TOP_BY_COUNT) == 0)
		object = json_pack("{s:o, s:o}", "total", number(rows.total),
		    "rows", json_of_rows(&rows));
	top_rows_free(&rows);
	if (object != NULL && h != NULL)
		(void)json_object_update_new(object, json_pack("{s:f, s:o}",
		    "seconds", (double)h->covered_ns / 1e9, "not_listed",
		    number(h->others)));
	return object;
}

/* The upper bound in microseconds; null: above all, or nothing was measured. */
static json_t *
json_of_percentile(const uint64_t counts[static STATUS_SPENT],
    unsigned int permille)
{
	static const uint32_t bounds[] = STATUS_SPENT_US;
	const unsigned int bucket = latency_bucket(counts, permille);

	return bucket < STATUS_SPENT - 1 ? number(bounds[bucket]) :
	    json_null();
}

static json_t *
json_of_latency(const struct top_model *m)
{
	uint64_t counts[STATUS_SPENT], ns;

	top_model_spent(m, counts, &ns);
	return json_pack("{s:o, s:o, s:o, s:o}",
	    "p50", json_of_percentile(counts, 500),
	    "p90", json_of_percentile(counts, 900),
	    "p99", json_of_percentile(counts, 990),
	    "p99.9", json_of_percentile(counts, 999));
}

int
top_print_json(const struct top_model *m, FILE *out)
{
	const struct status_counters *now = &m->now.counters;
	const struct status_counters *before = &m->before.counters;
	json_t *object = json_pack("{s:I, s:b, s:o, s:o, s:f, s:o}",
	    "time", (json_int_t)m->now.time,
	    "ready", m->now.state == STATUS_READY ||
	    m->now.state == STATUS_DEGRADED,
	    "received", number(now->received),
	    "unseen", number(now->unseen),
	    "rate", top_rate(m, before->received, now->received),
	    "latency_us", json_of_latency(m));
	int error = object == NULL ? -ENOMEM : 0;

	for (int i = 0; i < TOP_LISTS && error == 0; i++)
		if (json_object_set_new(object,
		    top_list_text((enum top_list)i),
		    json_of_list(m, (enum top_list)i)) < 0)
			error = -ENOMEM;
	if (error == 0 && json_dumpf(object, out, JSON_COMPACT) < 0)
		error = -EIO;
	(void)fputc('\n', out);
	json_decref(object);
	return error;
}
