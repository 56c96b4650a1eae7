/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen as cells: what is to be shown, whatever shows it.  A cell is a
 * printable ASCII character or a glyph of a graph, so no text can move the
 * cursor or change a colour.
 */
#ifndef NFDNS_NFQ_CLI_TOP_SCREEN_H
#define NFDNS_NFQ_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum screen_style {
	STYLE_PLAIN,
	STYLE_STRONG,
	STYLE_HEAD,			/* of a table */
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_GRAPH,
	STYLES
};

/* Glyphs: 1 to SCREEN_LEVELS, a column's height in eighths of a cell. */
#define SCREEN_LEVELS	8

struct screen_cell {
	uint8_t glyph;			/* ASCII, or one of the above */
	uint8_t style;			/* enum screen_style */
};

/* Owns its cells. */
struct screen {
	unsigned int rows, columns;
	struct screen_cell *cells;	/* by rows */
};

#define SCREEN_MAX	4096		/* columns, and rows */

/* Empty, of that size at least 1 and at most SCREEN_MAX.  0 or -ENOMEM. */
int screen_new(struct screen *screen, unsigned int rows, unsigned int columns)
    __attribute__((warn_unused_result));
void screen_free(struct screen *screen);

struct screen_cell *screen_at(const struct screen *screen, unsigned int row,
    unsigned int column);

/*
 * Puts a text as far as the screen goes; what is not printable ASCII becomes
 * "?".  Returns the column behind it.
 */
unsigned int screen_put(struct screen *screen, unsigned int row,
    unsigned int column, enum screen_style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The whole row has the style. */
void screen_style_row(struct screen *screen, unsigned int row,
    enum screen_style style);

/* What shows a glyph: UTF-8 or ASCII. */
const char *screen_glyph(uint8_t glyph, bool utf8);

/* The rows as lines, without spaces at their ends, up to the last one in use. */
void screen_print(const struct screen *screen, bool utf8, FILE *out);

#endif
