/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* Octets of the character that begins with "first"; 0: none does. */
static size_t
utf8_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The character at p, or -1 if it is not whole and well-formed UTF-8. */
static int32_t
utf8_read(const uint8_t *p, size_t left, size_t *length)
{
	static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	static const uint8_t mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	int32_t c;

	*length = utf8_length(*p);
	if (*length == 0 || *length > left)
		return -1;
	c = *p & mask[*length];
	for (size_t i = 1; i < *length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[*length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	return c;
}

static bool
is_printable(int32_t c)
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
	const uint8_t *p = octets;
	size_t used = 0, n;

	if (size == 0)
		return;
	for (size_t i = 0; i < length; i += n) {
		int32_t c = utf8_read(p + i, length - i, &n);

		if (c < 0)
			n = 1;
		if (c < 0 || !is_printable(c)) {
			if (used + 1 >= size)
				break;
			out[used++] = '?';
			continue;
		}
		if (used + n >= size)
			break;
		memcpy(out + used, p + i, n);
		used += n;
	}
	out[used] = '\0';
}
