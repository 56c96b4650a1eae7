/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/top/screen.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX	2048

int
screen_new(struct screen *screen, unsigned int rows, unsigned int columns)
{
	const size_t count = (size_t)rows * columns;

	assert(rows > 0 && rows <= SCREEN_MAX);
	assert(columns > 0 && columns <= SCREEN_MAX);
	*screen = (struct screen){ rows, columns,
		calloc(count, sizeof(struct screen_cell)) };
	if (screen->cells == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		screen->cells[i].glyph = ' ';
	return 0;
}

void
screen_free(struct screen *screen)
{
	free(screen->cells);
	*screen = (struct screen){ .cells = NULL };
}

struct screen_cell *
screen_at(const struct screen *screen, unsigned int row, unsigned int column)
{
	assert(row < screen->rows && column < screen->columns);
	return &screen->cells[(size_t)row * screen->columns + column];
}

unsigned int
screen_put(struct screen *screen, unsigned int row, unsigned int column,
    enum screen_style style, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (row >= screen->rows)
		return column;
	for (const char *c = text; *c != '\0' && column < screen->columns;
	    c++) {
		struct screen_cell *cell = screen_at(screen, row, column++);

		cell->glyph = *c >= ' ' && *c <= '~' ? (uint8_t)*c : '?';
		cell->style = (uint8_t)style;
	}
	return column;
}

void
screen_style_row(struct screen *screen, unsigned int row,
    enum screen_style style)
{
	for (unsigned int i = 0; row < screen->rows && i < screen->columns; i++)
		screen_at(screen, row, i)->style = (uint8_t)style;
}

const char *
screen_glyph(uint8_t glyph, bool utf8)
{
	static const char *const blocks[2][SCREEN_LEVELS + 1] = {
		{ " ", ".", ".", ":", "-", "=", "+", "*", "#" },
		/* U+2581 to U+2588 */
		{ " ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
		  "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
		  "\xe2\x96\x87", "\xe2\x96\x88" },
	};
	static char texts[128][2];	/* of the printable ones */

	if (glyph <= SCREEN_LEVELS)
		return blocks[utf8][glyph];
	if (glyph < ' ' || glyph > '~')
		return "?";
	texts[glyph][0] = (char)glyph;
	return texts[glyph];
}

static unsigned int
used_columns(const struct screen *screen, unsigned int row)
{
	unsigned int used = screen->columns;

	while (used > 0 && screen_at(screen, row, used - 1)->glyph == ' ')
		used--;
	return used;
}

void
screen_print(const struct screen *screen, bool utf8, FILE *out)
{
	unsigned int rows = screen->rows;

	while (rows > 0 && used_columns(screen, rows - 1) == 0)
		rows--;
	for (unsigned int row = 0; row < rows; row++) {
		const unsigned int used = used_columns(screen, row);

		for (unsigned int i = 0; i < used; i++)
			(void)fputs(screen_glyph(screen_at(screen, row,
			    i)->glyph, utf8), out);
		(void)fputc('\n', out);
	}
}
