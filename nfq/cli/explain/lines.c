/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "resolver/text/printable.h"

#define WIDTH	80
#define INDENT	12

void
lines_print(FILE *out, const char *heading, const char *format, ...)
{
	char given[LINES_TEXT], text[LINES_TEXT];
	const char *at = text;
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(given, sizeof(given), format, arguments);
	va_end(arguments);
	(void)printable_text(text, sizeof(text), given, strlen(given));
	fprintf(out, "%-*s", INDENT, heading);
	for (size_t column = INDENT; *at != '\0';) {
		const size_t length = strcspn(at, " ");
		const bool fits = column + (column > INDENT) + length < WIDTH;

		if (column > INDENT && !fits) {
			fprintf(out, "\n%*s", INDENT, "");
			column = INDENT;
		}
		column += (size_t)fprintf(out, "%s%.*s", column > INDENT ?
		    " " : "", (int)length, at);
		at += length;
		at += *at == ' ';
	}
	fputc('\n', out);
}
