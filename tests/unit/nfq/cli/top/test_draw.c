/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen at every size, of any page; keys; rates between readings. */
#include "nfq/cli/top/draw.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

#define SECOND	INT64_C(1000000000)

/* A reading of a daemon that has received so many questions. */
static struct top_reading
reading_at(int64_t seconds, int32_t pid, uint64_t received)
{
	struct top_reading r = { .when = { seconds * SECOND },
		.time = 1000000 + seconds, .running = true,
		.state = STATUS_READY, .pid = pid, .started = 1000 };

	r.counters.received = received;
	r.counters.asked[0][ASKED_IPV4][ASKED_A] = received;
	r.counters.verdicts[VERDICT_PASS] = received;
	r.counters.spent[0] = received;
	return r;
}

static void
take(struct top_model *m, int64_t seconds, int32_t pid, uint64_t received)
{
	struct top_reading r = reading_at(seconds, pid, received);

	top_model_take(m, &r);
}

static void
rates_are_of_two_readings_of_one_daemon(void)
{
	static struct top_model m;
	struct top_rows rows;

	take(&m, 10, 1, 1000);
	CHECK(!top_model_has_rates(&m) && m.history_count == 0);
	take(&m, 12, 1, 3000);
	CHECK(m.history_count == 1 && m.history[0] > 999 &&
	    m.history[0] < 1001);
	CHECK(top_rows_read(&rows, &m, TOP_TYPES, TOP_BY_RATE) == 0);
	CHECK(rows.count == 1 && strcmp(rows.rows[0].label, "A") == 0 &&
	    rows.rows[0].rate > 999 && rows.rows[0].count == 3000);
	top_rows_free(&rows);
	take(&m, 13, 1, 2000);		/* backwards: no rate below zero */
	CHECK(m.history[1] >= 0 && m.history[1] <= 0);
	take(&m, 14, 2, 5000);		/* another daemon */
	CHECK(!top_model_has_rates(&m) && m.history_count == 2);
	for (int i = 0; i < 2 * TOP_HISTORY; i++)
		take(&m, 15 + i, 2, 5000 + 10 * (uint64_t)i);
	CHECK(m.history_count == TOP_HISTORY);
	top_model_free(&m);
}

static struct hitter
hitter_of(const char *name, uint64_t least, uint64_t most)
{
	struct hitter h = { .least = least, .most = most };

	if (name_from_text(&h.name, name, strlen(name)) < 0)
		abort();
	return h;
}

/* Figures of a page that an attacker writes, and names that anybody asks for. */
static void
make_wild(struct top_model *m)
{
	struct top_reading r = reading_at(20, 1, UINT64_MAX);

	memset(&r.counters, 0xa5, sizeof(r.counters));
	r.state = UINT32_MAX;
	r.started = UINT64_MAX;
	r.restarts = r.table_names = r.table_loaded = UINT64_MAX;
	memset(r.degraded, 0x1b, sizeof(r.degraded) - 1);
	r.time = INT64_MAX;
	r.watches = true;
	for (int kind = 0; kind < HITTERS_KINDS; kind++) {
		struct hitters_list *list = &r.hitters[kind];

		list->list = calloc(60, sizeof(*list->list));
		if (list->list == NULL)
			abort();
		for (list->count = 0; list->count < 60; list->count++)
			list->list[list->count] = hitter_of(
			    "\\027[31m\\007\\255\\000.evil", UINT64_MAX / 2,
			    UINT64_MAX);
		list->total = list->others = UINT64_MAX;
		list->covered_ns = INT64_MAX;
	}
	take(m, 10, 1, 0);
	top_model_take(m, &r);
}

/* Only what can be printed, whatever the sizes. */
static bool
is_harmless(const struct screen *s)
{
	for (size_t i = 0; i < (size_t)s->rows * s->columns; i++) {
		const uint8_t glyph = s->cells[i].glyph;

		if (glyph > '~' || (glyph < ' ' && glyph > SCREEN_LEVELS) ||
		    s->cells[i].style >= STYLES)
			return false;
	}
	return true;
}

static void
every_size_can_be_drawn(void)
{
	static struct top_model m;
	unsigned int wrong = 0;

	make_wild(&m);
	for (unsigned int rows = 1; rows < 60; rows += 1 + rows / 12)
		for (unsigned int columns = 1; columns < 220;
		    columns += 1 + columns / 30)
			for (int list = 0; list < TOP_LISTS; list++) {
				struct top_view v = { .list =
				    (enum top_list)list, .scroll = 1000 };
				struct screen s;

				if (screen_new(&s, rows, columns) < 0)
					abort();
				wrong += top_draw(&s, &m, &v) != 0 ||
				    !is_harmless(&s) || v.scroll > 60;
				screen_free(&s);
			}
	CHECK(wrong == 0);
	top_model_free(&m);
}

static void
printed_lines_are_harmless(void)
{
	static struct top_model m;
	const struct top_view v = { .list = TOP_NAMES };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	make_wild(&m);
	CHECK(out != NULL && top_print(&m, &v, false, 1000, out) == 0);
	CHECK(top_print_json(&m, out) == 0);
	(void)fclose(out);
	for (size_t i = 0; i < size; i++)
		CHECK(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	CHECK(strstr(text, "\\027[31m\\007\\255\\000.evil.") != NULL);
	free(text);
	top_model_free(&m);
}

static void
keys_change_the_view(void)
{
	struct top_view v = { .list = TOP_NAMES, .page = 10 };

	CHECK(top_view_key(&v, 'u') == TOP_DRAW && v.list == TOP_USERS);
	CHECK(top_view_key(&v, 's') == TOP_DRAW && v.sort == TOP_BY_RATE);
	CHECK(top_view_key(&v, 's') == TOP_DRAW && v.sort == TOP_BY_LABEL);
	CHECK(top_view_key(&v, 's') == TOP_DRAW && v.sort == TOP_BY_COUNT);
	CHECK(top_view_key(&v, TOP_KEY_UP) == TOP_DRAW && v.scroll == 0);
	CHECK(top_view_key(&v, TOP_KEY_PAGE_DOWN) == TOP_DRAW &&
	    v.scroll == 9);
	CHECK(top_view_key(&v, 'k') == TOP_DRAW && v.scroll == 8);
	CHECK(top_view_key(&v, TOP_KEY_HOME) == TOP_DRAW && v.scroll == 0);
	CHECK(top_view_key(&v, 'x') == TOP_NOTHING);
	CHECK(top_view_key(&v, ' ') == TOP_READ);
	CHECK(top_view_key(&v, '?') == TOP_DRAW && v.help);
	CHECK(top_view_key(&v, 'l') == TOP_DRAW && !v.help &&
	    v.list == TOP_LATENCY);
	CHECK(top_view_key(&v, TOP_KEY_RESIZED) == TOP_DRAW);
	CHECK(top_view_key(&v, 'q') == TOP_QUIT);
	CHECK(top_view_key(&v, TOP_KEY_GONE) == TOP_QUIT);
}

int
main(void)
{
	TEST(rates_are_of_two_readings_of_one_daemon);
	TEST(every_size_can_be_drawn);
	TEST(printed_lines_are_harmless);
	TEST(keys_change_the_view);
	return test_summary();
}
