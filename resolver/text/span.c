/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/span.h"

#include <stdint.h>

#define HIGH_BITS	UINT64_C(0x8080808080808080)

static uint64_t
eight_octets(const char *text)
{
	uint64_t octets;

	memcpy(&octets, text, sizeof(octets));
	return octets;
}

/* Whether it is ASCII: looks at the last octets twice rather than singly. */
static bool
is_ascii(const char *text, size_t length)
{
	uint64_t seen = 0;
	size_t at;

	if (length < sizeof(seen)) {
		for (at = 0; at < length; at++)
			seen |= (uint8_t)text[at];
		return (seen & HIGH_BITS) == 0;
	}
	for (at = 0; length - at > sizeof(seen); at += sizeof(seen))
		seen |= eight_octets(text + at);
	seen |= eight_octets(text + length - sizeof(seen));
	return (seen & HIGH_BITS) == 0;
}

/*
 * Octets of the character at p, of which "left" may be read; 0: it is none.
 * RFC 3629 section 4: only the second octet's range depends on the first.
 */
static size_t
character(const uint8_t *p, size_t left)
{
	const uint8_t first = p[0];
	size_t length;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (left < length)
		return 0;
	if ((first == 0xe0 && p[1] < 0xa0) || (first == 0xed && p[1] > 0x9f) ||
	    (first == 0xf0 && p[1] < 0x90) || (first == 0xf4 && p[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

bool
span_is_utf8(struct span span)
{
	const uint8_t *p = (const uint8_t *)span.text;
	size_t at = 0;

	if (is_ascii(span.text, span.length))
		return true;
	while (at < span.length) {
		size_t length = character(p + at, span.length - at);

		if (length == 0)
			return false;
		at += length;
	}
	return true;
}
