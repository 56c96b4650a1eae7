/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/draw.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "nfq/cli/top/draw_parts.h"

#define TABS_COLUMNS	78		/* of all names of lists */

static const char *const help[] = {
	"nfdns top: keys",
	"",
	"  n u r t v d l   names, users, rules, types, verdicts, decisions,",
	"                  latency: what is listed",
	"  s               sort by the next column; it is in CAPITALS",
	"  up, down, j, k  scroll; also page up, page down, home, end",
	"  space           read the numbers now",
	"  h ?             this help",
	"  q               quit",
	"",
	"Names and users are those of the last 10 to 20 seconds.  One of them",
	"asked at least as many questions as \"questions\" says, and at most so",
	"many more as \"or more\" says.  The line above the list says how many",
	"one that is not listed has asked at most.",
	"",
	"Rates are of the time between two readings; of names and users, of the",
	"time that the list covers.  Latencies are upper bounds: <20us.",
};

static void
draw_help(struct screen *s)
{
	for (unsigned int i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		(void)screen_put(s, i, 0, i == 0 ? STYLE_STRONG : STYLE_PLAIN,
		    "%s", help[i]);
}

/* "n:NAMES u:users ...": the list that is shown is in capitals. */
static unsigned int
draw_tabs(struct screen *s, unsigned int row, enum top_list shown)
{
	const bool narrow = s->columns < TABS_COLUMNS;
	unsigned int column = 0;

	for (int i = 0; i < TOP_LISTS; i++) {
		const char *text = top_list_text((enum top_list)i);
		const bool is_shown = i == (int)shown;

		column = screen_put(s, row, column, is_shown ? STYLE_STRONG :
		    STYLE_PLAIN, "%c", text[0]);
		for (const char *c = text; (!narrow || is_shown) && *c != '\0';
		    c++)
			column = screen_put(s, row, column, is_shown ?
			    STYLE_STRONG : STYLE_PLAIN, "%s%c", c == text ?
			    ":" : "", is_shown ? toupper((unsigned char)*c) :
			    *c);
		column++;
	}
	(void)screen_put(s, row, column, STYLE_PLAIN, narrow ? "h q" :
	    "h:help q:quit");
	return row + 1;
}

static unsigned int
graph_height(const struct screen *s)
{
	return s->rows >= 44 ? 8 : s->rows >= 32 ? 4 : s->rows >= 18 ? 1 : 0;
}

/* So that the last row stays at the bottom. */
static void
correct_scroll(struct top_view *v, size_t rows, unsigned int page)
{
	v->page = page;
	if (rows <= page)
		v->scroll = 0;
	else if (v->scroll > rows - page)
		v->scroll = (unsigned int)(rows - page);
}

int
top_draw(struct screen *s, const struct top_model *m, struct top_view *v)
{
	const unsigned int height = graph_height(s);
	struct top_rows rows;
	unsigned int row;
	int error;

	if (v->help) {
		draw_help(s);
		return 0;
	}
	row = draw_head(s, m, s->rows);
	if (height > 0)
		row = draw_graph(s, row, m, height);
	if (s->rows >= 10)
		row = draw_tabs(s, row + (s->rows >= 18), v->list);
	row = draw_caption(s, row, m, v->list);
	error = top_rows_read(&rows, m, v->list, v->sort);
	if (error == 0) {
		correct_scroll(v, rows.count, s->rows > row + 1 ?
		    s->rows - row - 1 : 0);
		(void)draw_rows(s, row, &rows, v);
	}
	top_rows_free(&rows);
	return error;
}

/* Keys that choose a list: its first letter. */
static bool
choose_list(struct top_view *v, int key)
{
	for (int i = 0; i < TOP_LISTS; i++)
		if (top_list_text((enum top_list)i)[0] == key) {
			v->list = (enum top_list)i;
			v->scroll = 0;
			v->help = false;
			return true;
		}
	return false;
}

static void
scroll_by(struct top_view *v, long rows)
{
	const long to = (long)v->scroll + rows;

	v->scroll = to < 0 ? 0 : (unsigned int)to;
}

static bool
scroll_key(struct top_view *v, int key)
{
	const long page = v->page > 1 ? v->page - 1 : 1;

	if (key == TOP_KEY_UP || key == 'k')
		scroll_by(v, -1);
	else if (key == TOP_KEY_DOWN || key == 'j')
		scroll_by(v, 1);
	else if (key == TOP_KEY_PAGE_UP)
		scroll_by(v, -page);
	else if (key == TOP_KEY_PAGE_DOWN)
		scroll_by(v, page);
	else if (key == TOP_KEY_HOME)
		v->scroll = 0;
	else if (key == TOP_KEY_END)
		v->scroll = SCREEN_MAX;
	else
		return false;
	return true;
}

enum top_wish
top_view_key(struct top_view *v, int key)
{
	if (key == TOP_KEY_GONE || key == 'q' || key == 'Q')
		return TOP_QUIT;
	if (key == 'h' || key == '?') {
		v->help = !v->help;
		return TOP_DRAW;
	}
	if (v->help && key != TOP_KEY_RESIZED) {
		v->help = false;
		(void)choose_list(v, key);
		return TOP_DRAW;
	}
	if (key == ' ')
		return TOP_READ;
	if (key == 's') {
		v->sort = (enum top_sort)((v->sort + 1) % TOP_SORTS);
		return TOP_DRAW;
	}
	return key == TOP_KEY_RESIZED || choose_list(v, key) ||
	    scroll_key(v, key) ? TOP_DRAW : TOP_NOTHING;
}
