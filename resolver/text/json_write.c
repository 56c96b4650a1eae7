/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/json_write.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "resolver/text/utf8.h"

/* One character; a control character of names of its own has its row. */
static void
put_code(struct json_write *w, const char *at, size_t length)
{
	static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
	const uint32_t code = utf8_code(at, length);
	const char *special = code != 0 && code < 0x80 ?
	    strchr(from, (int)code) : NULL;

	if (special != NULL)
		(void)fprintf(w->out, "\\%c", to[special - from]);
	else if (code >= ' ' && (code < 0x80 || !w->ascii))
		(void)fwrite(at, 1, length, w->out);
	else if (code > 0xffff)			/* a pair of surrogates */
		(void)fprintf(w->out, "\\u%04X\\u%04X", 0xd7c0 + (code >> 10),
		    0xdc00 + (code & 0x3ff));
	else
		(void)fprintf(w->out, "\\u%04X", code);
}

/* How many octets stand for themselves. */
static size_t
plain_length(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

static void
put_string(struct json_write *w, const char *text, size_t length)
{
	const char *const end = text + length;

	(void)fputc('"', w->out);
	while (text < end) {
		const size_t plain = plain_length(text, end);
		const size_t of = plain > 0 ? plain : utf8_length(text, end);

		if (plain > 0)
			(void)fwrite(text, 1, plain, w->out);
		else if (of > 0)
			put_code(w, text, of);
		else
			(void)fputc('?', w->out);
		text += of > 0 ? of : 1;
	}
	(void)fputc('"', w->out);
}

/* What stands before a value. */
static void
begin(struct json_write *w, const char *key)
{
	if (w->comma)
		(void)fputc(',', w->out);
	w->comma = true;
	if (key == NULL)
		return;
	put_string(w, key, strlen(key));
	(void)fputc(':', w->out);
}

void
json_write_open(struct json_write *w, const char *key, char open)
{
	begin(w, key);
	(void)fputc(open, w->out);
	w->comma = false;
}

void
json_write_close(struct json_write *w, char end)
{
	(void)fputc(end, w->out);
	w->comma = true;
}

void
json_write_octets(struct json_write *w, const char *key, const char *text,
    size_t length)
{
	begin(w, key);
	if (text == NULL)
		(void)fputs("null", w->out);
	else
		put_string(w, text, length);
}

void
json_write_text(struct json_write *w, const char *key, const char *text)
{
	json_write_octets(w, key, text, text != NULL ? strlen(text) : 0);
}

void
json_write_hex(struct json_write *w, const char *key, const uint8_t *octets,
    size_t length)
{
	begin(w, key);
	(void)fputc('"', w->out);
	for (size_t i = 0; i < length; i++)
		(void)fprintf(w->out, "%02x", octets[i]);
	(void)fputc('"', w->out);
}

void
json_write_integer(struct json_write *w, const char *key, int64_t number)
{
	begin(w, key);
	(void)fprintf(w->out, "%" PRId64, number);
}

void
json_write_number(struct json_write *w, const char *key, uint64_t number)
{
	json_write_integer(w, key, (int64_t)(number & INT64_MAX));
}

void
json_write_real(struct json_write *w, const char *key, double number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%.17g", number);
	begin(w, key);
	/* A whole number, too, shows what it is. */
	(void)fprintf(w->out, "%s%s", text,
	    strpbrk(text, ".e") == NULL ? ".0" : "");
}

void
json_write_bool(struct json_write *w, const char *key, bool yes)
{
	begin(w, key);
	(void)fputs(yes ? "true" : "false", w->out);
}

int
json_write_end(struct json_write *w)
{
	(void)fputc('\n', w->out);
	w->comma = false;
	return w->error < 0 ? w->error : ferror(w->out) ? -EIO : 0;
}
