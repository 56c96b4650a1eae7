/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/metrics/accept.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define BLANKS	" \t"

/* A part of the header. */
struct piece {
	const char *text;
	size_t length;
};

/* Cuts the text up to the separator off *rest; blanks around it are left out. */
static bool
next_piece(const char **rest, const char *end, char separator,
    struct piece *piece)
{
	const char *start = *rest, *stop;

	if (start == NULL || start > end)
		return false;
	stop = memchr(start, separator, (size_t)(end - start));
	*rest = stop != NULL ? stop + 1 : NULL;
	if (stop == NULL)
		stop = end;
	while (start < stop && strchr(BLANKS, *start) != NULL)
		start++;
	while (stop > start && strchr(BLANKS, stop[-1]) != NULL)
		stop--;
	*piece = (struct piece){ start, (size_t)(stop - start) };
	return true;
}

static bool
is_text(const struct piece *piece, const char *text)
{
	return piece->length == strlen(text) &&
	    strncasecmp(piece->text, text, piece->length) == 0;
}

/* "0.5" as 500; what is no weight is 0 (RFC 9110 section 12.4.2). */
static int
weight_of(const char *text, size_t length)
{
	int weight, unit = 100;

	if (length == 0 || length > 5 || (text[0] != '0' && text[0] != '1') ||
	    (length > 1 && text[1] != '.'))
		return 0;
	weight = (text[0] - '0') * 1000;
	for (size_t i = 2; i < length; i++, unit /= 10) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		weight += (text[i] - '0') * unit;
	}
	return weight > 1000 ? 0 : weight;
}

/* A range with its parameters: its format, and its weight in thousandths. */
static bool
read_range(const struct piece *range, enum metrics_format *format, int *weight)
{
	const char *rest = range->text;
	const char *end = range->text + range->length;
	struct piece piece;
	bool open;

	if (!next_piece(&rest, end, ';', &piece))
		return false;
	open = is_text(&piece, "application/openmetrics-text");
	if (!open && !is_text(&piece, "text/plain"))
		return false;
	*format = open ? METRICS_OPEN : METRICS_TEXT;
	*weight = 1000;
	while (next_piece(&rest, end, ';', &piece)) {
		if (piece.length >= 2 && strncasecmp(piece.text, "q=", 2) == 0)
			*weight = weight_of(piece.text + 2, piece.length - 2);
		else if (open && piece.length >= 8 &&
		    strncasecmp(piece.text, "version=", 8) == 0 &&
		    !is_text(&piece, "version=1.0.0") &&
		    !is_text(&piece, "version=\"1.0.0\""))
			return false;
	}
	return true;
}

enum metrics_format
metrics_accept(const char *accept)
{
	int best[METRICS_FORMATS] = { 0, 0 };
	const char *end;
	struct piece range;

	if (accept == NULL)
		return METRICS_TEXT;
	end = accept + strlen(accept);
	while (next_piece(&accept, end, ',', &range)) {
		enum metrics_format format;
		int weight;

		if (read_range(&range, &format, &weight) &&
		    weight > best[format])
			best[format] = weight;
	}
	return best[METRICS_OPEN] > 0 &&
	    best[METRICS_OPEN] >= best[METRICS_TEXT] ? METRICS_OPEN :
	    METRICS_TEXT;
}
