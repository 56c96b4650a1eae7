/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/text/utf8.h"

#include <string.h>

bool
bom_take(char *text, size_t *length)
{
	static const char mark[3] = "\xef\xbb\xbf";

	if (*length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
	    memcmp(text, "\xfe\xff", 2) == 0))
		return false;
	if (*length >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
		*length -= sizeof(mark);
		memmove(text, text + sizeof(mark), *length);
	}
	return true;
}

/*
 * Which octets may follow a first octet up to "last": RFC 3629 section 4.
 * Only the second octet has a range of its own; those behind it are 80 to BF.
 */
static const struct {
	unsigned char last;
	unsigned char length;		/* 0: no character begins so */
	unsigned char low, high;	/* of the second octet */
} firsts[] = {
	{ 0x7f, 1, 0, 0 },
	{ 0xc1, 0, 0, 0 },
	{ 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 3, 0xa0, 0xbf },
	{ 0xec, 3, 0x80, 0xbf },
	{ 0xed, 3, 0x80, 0x9f },
	{ 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 4, 0x90, 0xbf },
	{ 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 4, 0x80, 0x8f },
	{ 0xff, 0, 0, 0 },
};

size_t
utf8_length(const char *at, const char *end)
{
	const unsigned char *octets = (const unsigned char *)at;
	size_t row = 0, length;

	while (octets[0] > firsts[row].last)
		row++;
	length = firsts[row].length;
	if (length > (size_t)(end - at))
		return 0;
	if (length > 1 && (octets[1] < firsts[row].low ||
	    octets[1] > firsts[row].high))
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((octets[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

uint32_t
utf8_code(const char *at, size_t length)
{
	static const uint8_t bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (uint8_t)at[0] & bits[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((uint8_t)at[i] & 0x3f);
	return code;
}
