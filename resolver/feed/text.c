/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "resolver/text/number.h"
#include "resolver/text/utf8.h"

#define NUMBER_MOST	999999

const char *
feed_cause_name(enum feed_cause cause)
{
	static const char *const names[FEED_CAUSES] = {
		[FEED_CAUSE_PLANNED] = "planned",
		[FEED_CAUSE_CONNECT] = "connect",
		[FEED_CAUSE_TLS] = "tls",
		[FEED_CAUSE_RESET] = "reset",
		[FEED_CAUSE_TIMEOUT] = "timeout",
		[FEED_CAUSE_STATUS] = "status",
		[FEED_CAUSE_PROTOCOL] = "protocol",
		[FEED_CAUSE_CONTENT] = "content",
	};

	return cause < FEED_CAUSES ? names[cause] : "unknown";
}

static bool
is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	/* Line ends, and what turns the direction (Unicode TR 36). */
	return !(c >= 0x200b && c <= 0x200f) &&
	    !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) &&
	    c != 0xfeff;
}

void
feed_text_clean(char *out, size_t size, const void *octets, size_t length)
{
	const char *p = length > 0 ? octets : "", *const end = p + length;
	size_t used = 0, n;

	if (size == 0)
		return;
	for (; p < end; p += n > 0 ? n : 1) {
		n = utf8_length(p, end);
		if (n == 0 || !is_printable(utf8_code(p, n))) {
			if (used + 1 >= size)
				break;
			out[used++] = '?';
			continue;
		}
		if (used + n >= size)
			break;
		memcpy(out + used, p, n);
		used += n;
	}
	out[used] = '\0';
}

size_t
feed_text_decode(char *out, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used < size; i++) {
		int high = -1, low = -1;

		if (text[i] == '%' && i + 2 < length) {
			high = number_hex_digit(text[i + 1]);
			low = number_hex_digit(text[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			out[used++] = (char)(high << 4 | low);
			i += 2;
		} else {
			out[used++] = text[i];
		}
	}
	return used;
}

unsigned int
feed_text_number(const void *text, size_t length, unsigned int otherwise)
{
	const char *digits = text;
	unsigned int n = 0;

	for (size_t i = 0; i < length; i++) {
		if (digits[i] < '0' || digits[i] > '9' || n > NUMBER_MOST / 10)
			return otherwise;
		n = n * 10 + (unsigned int)(digits[i] - '0');
	}
	return length > 0 ? n : otherwise;
}
