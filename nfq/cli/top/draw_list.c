/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "nfq/cli/top/draw_parts.h"
#include "nfq/cli/top/latency.h"

#define BAR_MIN_COLUMNS	100		/* of a screen that has room for bars */
#define BAR_MAX		60
#define OTHERS_TEXT	48
#define GAP		2U		/* before the label, and before the bar */

/* The label's title, and what is counted. */
static const struct {
	const char *label, *caption;
} texts[TOP_LISTS] = {
	[TOP_NAMES] = { "name", NULL },
	[TOP_USERS] = { "user", NULL },
	[TOP_RULES] = { "rule", "questions that a rule of the policy matched" },
	[TOP_TYPES] = { "type", "questions by type" },
	[TOP_VERDICTS] = { "verdict", "questions by what was done" },
	[TOP_DECISIONS] = { "decision", "questions by the reason why" },
	[TOP_LATENCY] = { "answered in", "questions that were measured" },
};

static const char *
others_text(uint64_t others, char text[static OTHERS_TEXT])
{
	char number[TOP_TEXT];

	(void)snprintf(text, OTHERS_TEXT, others == 0 ? "none" :
	    "at most %s", number_text(others, number));
	return text;
}

static void
caption_of_hitters(struct screen *s, unsigned int row,
    const struct top_model *m, enum hitters_kind kind)
{
	const struct hitters_list *list = &m->now.hitters[kind];
	const char *what = s->columns < 64 ? ";" : kind == HITTERS_NAMES ?
	    " questions; names" : " questions; users";
	char total[TOP_TEXT], others[OTHERS_TEXT];

	if (!m->now.running)
		return;
	if (!m->now.watches)
		(void)screen_put(s, row, 0, STYLE_BAD,
		    "only root may see names and users");
	else if (list->covered_ns == 0)
		(void)screen_put(s, row, 0, STYLE_PLAIN,
		    "nfdnsd begins to count");
	else
		(void)screen_put(s, row, 0, STYLE_PLAIN, "last %" PRId64
		    "s: %s%s not listed: %s",
		    (list->covered_ns / 100000000 + 5) / 10,
		    number_text(list->total, total), what,
		    others_text(list->others, others));
}

unsigned int
draw_caption(struct screen *s, unsigned int row, const struct top_model *m,
    enum top_list list)
{
	if (list == TOP_NAMES)
		caption_of_hitters(s, row, m, HITTERS_NAMES);
	else if (list == TOP_USERS)
		caption_of_hitters(s, row, m, HITTERS_USERS);
	else
		(void)screen_put(s, row, 0, STYLE_PLAIN, "since start: %s",
		    texts[list].caption);
	return row + 1;
}

/* The columns that a screen has room for. */
struct columns {
	bool more, share, bar;
	unsigned int label;		/* where it begins */
	unsigned int label_width;
	unsigned int bar_from, bar_width;
};

static bool
is_of_hitters(enum top_list list)
{
	return list == TOP_NAMES || list == TOP_USERS;
}

static struct columns
columns_for(const struct screen *s, const struct top_rows *rows,
    const struct top_view *v, unsigned int page)
{
	struct columns c = { .more = is_of_hitters(v->list) &&
	    s->columns >= 48, .share = s->columns >= 60 };
	unsigned int longest = 0;

	c.label = 18U + (c.more ? 9U : 0U) + (c.share ? 8U : 0U) + GAP;
	for (size_t i = v->scroll; i < rows->count && i < v->scroll + page;
	    i++) {
		const size_t length = strlen(rows->rows[i].label);

		if (length > longest)
			longest = (unsigned int)(length < SCREEN_MAX ? length :
			    SCREEN_MAX);
	}
	c.label_width = s->columns > c.label ? s->columns - c.label : 0;
	if (v->plain || s->columns < BAR_MIN_COLUMNS)
		return c;
	if (c.label_width > s->columns / 2 - c.label)
		c.label_width = s->columns / 2 - c.label;
	if (longest < c.label_width)
		c.label_width = longest;
	c.bar_from = c.label + c.label_width + GAP;
	c.bar = true;
	c.bar_width = s->columns - c.bar_from < BAR_MAX ? s->columns -
	    c.bar_from : BAR_MAX;
	return c;
}

/* The column that the list is sorted by is in capitals. */
static const char *
title(const char *text, bool sorted, char out[static TOP_TEXT])
{
	(void)snprintf(out, TOP_TEXT, "%s", text);
	for (char *c = out; sorted && *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	return out;
}

static void
draw_titles(struct screen *s, unsigned int row, const struct columns *c,
    const struct top_view *v)
{
	const enum top_sort sort = v->list == TOP_LATENCY ? TOP_BY_LABEL :
	    v->sort;
	char text[TOP_TEXT];
	unsigned int column;

	column = screen_put(s, row, 0, STYLE_HEAD, "%7s",
	    title("per sec", sort == TOP_BY_RATE, text));
	column = screen_put(s, row, column, STYLE_HEAD, " %10s",
	    title("questions", sort == TOP_BY_COUNT, text));
	if (c->more)
		column = screen_put(s, row, column, STYLE_HEAD, " %8s",
		    "or more");
	if (c->share)
		column = screen_put(s, row, column, STYLE_HEAD, " %7s",
		    "share");
	(void)screen_put(s, row, column, STYLE_HEAD, "%*s%s", (int)GAP, "",
	    title(texts[v->list].label, sort == TOP_BY_LABEL, text));
	screen_style_row(s, row, STYLE_HEAD);
}

static void
draw_label(struct screen *s, unsigned int row, const struct columns *c,
    const char *label)
{
	const size_t length = strlen(label);

	if (length <= c->label_width || c->label_width < 4)
		(void)screen_put(s, row, c->label, STYLE_PLAIN, "%.*s",
		    (int)c->label_width, label);
	else
		(void)screen_put(s, row, c->label, STYLE_PLAIN, "%.*s...",
		    (int)c->label_width - 3, label);
}

static void
draw_bar(struct screen *s, unsigned int row, const struct columns *c,
    double part)
{
	const unsigned int length = (unsigned int)(part * c->bar_width + 0.5);

	for (unsigned int i = 0; i < length && i < c->bar_width; i++) {
		struct screen_cell *cell = screen_at(s, row, c->bar_from + i);

		cell->glyph = SCREEN_LEVELS;
		cell->style = STYLE_GRAPH;
	}
}

static void
draw_row(struct screen *s, unsigned int row, const struct columns *c,
    const struct top_row *r, uint64_t total)
{
	char text[TOP_TEXT], more[TOP_TEXT + 1] = "";
	unsigned int column;

	column = screen_put(s, row, 0, STYLE_PLAIN, "%7s",
	    rate_text(r->rate, text));
	column = screen_put(s, row, column, STYLE_STRONG, " %10s",
	    number_text(r->count, text));
	if (r->more > 0)
		(void)snprintf(more, sizeof(more), "+%s",
		    number_text(r->more, text));
	if (c->more)
		column = screen_put(s, row, column, STYLE_PLAIN, " %8s", more);
	if (c->share)
		(void)screen_put(s, row, column, STYLE_PLAIN, " %6.1f%%",
		    total > 0 ? 100 * (double)r->count / (double)total : 0.0);
	draw_label(s, row, c, r->label);
}

/* Of bars, the longest is that of the largest number. */
static uint64_t
largest(const struct top_rows *rows)
{
	uint64_t most = 1;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].count > most)
			most = rows->rows[i].count;
	return most;
}

unsigned int
draw_rows(struct screen *s, unsigned int row, const struct top_rows *rows,
    const struct top_view *v)
{
	const unsigned int page = s->rows > row + 1 ? s->rows - row - 1 : 0;
	const struct columns c = columns_for(s, rows, v, page);
	const uint64_t most = largest(rows);

	draw_titles(s, row++, &c, v);
	for (size_t i = v->scroll; i < rows->count && row < s->rows; i++) {
		const struct top_row *r = &rows->rows[i];

		draw_row(s, row, &c, r, rows->total);
		if (c.bar)
			draw_bar(s, row, &c, (double)r->count / (double)most);
		row++;
	}
	return row;
}
