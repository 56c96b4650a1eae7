/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/text/utf8.h"

#define PIECE 256U			/* octets that are put at once */

/* Characters that are not seen: Unicode's categories Cc, Cf, Zl and Zp. */
static const struct {
	uint16_t first, last;
} hidden[] = {
	{ 0x0000, 0x001f },
	{ 0x007f, 0x009f },
	{ 0x00ad, 0x00ad },
	{ 0x061c, 0x061c },
	{ 0x180e, 0x180e },
	{ 0x200b, 0x200f },
	{ 0x2028, 0x202e },
	{ 0x2060, 0x206f },
	{ 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb },
};

static bool
is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	/* The tags, which spell ASCII that is not seen. */
	return code >= 0xe0000 && code <= 0xe0fff;
}

size_t
printable_text(char *to, size_t size, const void *octets, size_t length)
{
	static const char hex[] = "0123456789abcdef";
	const char *text = length > 0 ? octets : "", *const end = text + length;
	size_t whole = 0;
	char *out = to;

	while (text < end) {
		const size_t of = utf8_length(text, end);
		const bool plain = of > 0 && !is_hidden(utf8_code(text, of));
		const size_t n = of > 0 ? of : 1;

		whole += plain ? n : n * PRINTABLE_GROWTH;
		for (size_t i = 0; i < n && whole < size; i++) {
			if (plain) {
				*out++ = text[i];
				continue;
			}
			*out++ = '\\';
			*out++ = 'x';
			*out++ = hex[(uint8_t)text[i] >> 4];
			*out++ = hex[(uint8_t)text[i] & 15];
		}
		text += n;
	}
	*out = '\0';
	return whole;
}

/* The end of at most PIECE octets that cuts no character that is whole. */
static const char *
piece_end(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && at - text < (ptrdiff_t)PIECE) {
		const size_t of = utf8_length(at, end);

		at += of > 0 ? of : 1;
	}
	return at;
}

int
printable_put(const char *text, FILE *out)
{
	char piece[(PIECE + 4) * PRINTABLE_GROWTH + 1];
	const char *const end = text + strlen(text);
	int octets = 0;

	while (text < end) {
		const char *next = piece_end(text, end);
		const size_t length = printable_text(piece, sizeof(piece),
		    text, (size_t)(next - text));

		octets += (int)fwrite(piece, 1, length, out);
		text = next;
	}
	return octets;
}

void
printable_vline(FILE *out, const char *format, va_list arguments)
{
	char *text = NULL;

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	(void)printable_put(text != NULL ? text : "out of memory", out);
	(void)fputc('\n', out);
	free(text);
}

void
printable_line(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printable_vline(out, format, arguments);
	va_end(arguments);
}

void
printable_wrap(FILE *out, const char *text, size_t column, size_t width)
{
	size_t at = column;

	while (*text != '\0') {
		const size_t length = strcspn(text, " ");

		if (at > column && at + 1 + length > width) {
			(void)fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > column ? " " : "",
		    (int)length, text);
		text += length;
		text += *text == ' ';
	}
	(void)fputc('\n', out);
}

void
printable_put_json(const char *text, size_t length, FILE *out)
{
	for (const char *const end = text + length; text < end;) {
		const size_t of = utf8_length(text, end);
		const uint32_t code = of > 0 ? utf8_code(text, of) : 0;

		if (code < ' ')			/* of no string: RFC 8259, 7 */
			(void)fputc(' ', out);
		else if (!is_hidden(code))
			(void)fwrite(text, 1, of, out);
		else if (code > 0xffff)		/* a pair of surrogates */
			(void)fprintf(out, "\\u%04x\\u%04x",
			    0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
		else
			(void)fprintf(out, "\\u%04x", code);
		text += of > 0 ? of : 1;
	}
}
