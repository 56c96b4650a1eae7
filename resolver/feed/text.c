/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/text.h"

#include "resolver/text/number.h"

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
