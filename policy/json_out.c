/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/json_out.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

void
json_octets(struct json_out *out, const char *octets, size_t length)
{
	if (out->full || (size_t)(out->end - out->pos) < length) {
		out->full = true;
		return;
	}
	memcpy(out->pos, octets, length);
	out->pos += length;
}

void
json_text(struct json_out *out, const char *text)
{
	json_octets(out, text, strlen(text));
}

void
json_char(struct json_out *out, char c)
{
	if (out->full || out->pos == out->end)
		out->full = true;
	else
		*out->pos++ = c;
}

void
json_number(struct json_out *out, uint64_t number)
{
	char digits[20];
	size_t n = sizeof(digits);

	if (number < 10) {
		json_char(out, (char)('0' + number));
		return;
	}
	do {
		digits[--n] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	json_octets(out, digits + n, sizeof(digits) - n);
}

void
json_digits(struct json_out *out, uint64_t number, size_t width)
{
	char digits[10];

	assert(width <= sizeof(digits));
	for (size_t i = width; i-- > 0; number /= 10)
		digits[i] = (char)('0' + number % 10);
	json_octets(out, digits, width);
}

void
json_bool(struct json_out *out, const char *key, bool value)
{
	json_text(out, key);
	json_text(out, value ? "true" : "false");
}

void
json_time(struct json_out *out, uint64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm = { .tm_mday = 1 };

	(void)gmtime_r(&seconds, &tm);
	json_digits(out, (uint64_t)tm.tm_year + 1900, 4);
	json_char(out, '-');
	json_digits(out, (uint64_t)tm.tm_mon + 1, 2);
	json_char(out, '-');
	json_digits(out, (uint64_t)tm.tm_mday, 2);
	json_char(out, 'T');
	json_digits(out, (uint64_t)tm.tm_hour, 2);
	json_char(out, ':');
	json_digits(out, (uint64_t)tm.tm_min, 2);
	json_char(out, ':');
	json_digits(out, (uint64_t)tm.tm_sec, 2);
	json_char(out, '.');
	json_digits(out, time_ns % 1000000000 / 1000, 6);
	json_text(out, "+0000");
}

void
json_address(struct json_out *out, int family, const uint8_t *address)
{
	char text[INET6_ADDRSTRLEN];

	if (family == AF_INET) {
		for (int i = 0; i < 4; i++) {
			if (i > 0)
				json_char(out, '.');
			json_number(out, address[i]);
		}
	} else if (inet_ntop(AF_INET6, address, text, sizeof(text)) != NULL)
		json_text(out, text);
}

void
json_escaped(struct json_out *out, uint8_t c, bool in_name)
{
	if (c == '"')
		json_text(out, "\\\"");
	else if (c == '\\')
		json_text(out, "\\\\\\\\");
	else if (c == '.' && in_name)
		json_text(out, "\\\\.");
	else if (c > 0x20 && c < 0x7f)
		json_char(out, (char)c);
	else if (c == ' ' && !in_name)
		json_char(out, ' ');
	else {
		json_text(out, "\\\\");
		json_digits(out, c, 3);
	}
}

/* What stands for itself in names and in JSON: letters, digits, "-", "_". */
static bool
is_plain(uint8_t c)
{
	static const uint64_t plain[2] = {
		0x03ff200000000000, 0x07fffffe87fffffe,
	};

	return c < 128 && (plain[c / 64] >> c % 64 & 1) != 0;
}

static void
json_label(struct json_out *out, const uint8_t *octets, uint8_t length)
{
	uint8_t i = 0;

	/* Most are plain throughout: these are copied while they are read. */
	if (!out->full && (size_t)(out->end - out->pos) >= length) {
		for (; i < length && is_plain(octets[i]); i++)
			out->pos[i] = (char)octets[i];
		out->pos += i;
	}
	for (; i < length; i++)
		json_escaped(out, octets[i], true);
}

void
json_name(struct json_out *out, const struct dns_name *name)
{
	const uint8_t *label = name->octets;

	if (*label == 0)
		json_char(out, '.');
	while (*label != 0) {
		if (label != name->octets)
			json_char(out, '.');
		json_label(out, label + 1, *label);
		label += *label + 1;
	}
}
