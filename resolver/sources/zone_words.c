/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/zone_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WIDTH_MAX	255	/* of a number, as in BIND */

size_t
zone_word(const char **at, const char **word)
{
	size_t length;

	*at += strspn(*at, " ");
	if (**at == '"') {
		*word = *at + 1;
		length = strcspn(*word, "\"");
		*at = *word + length + ((*word)[length] == '"');
		return length;
	}
	*word = *at;
	length = strcspn(*at, " ");
	*at += length;
	return length;
}

/* Digits at *at, which is moved behind them.  False: none, or above "most". */
static bool
take_number(const char **at, const char *end, uint64_t most, uint64_t *number)
{
	const char *start = *at;

	for (*number = 0; *at < end && isdigit((unsigned char)**at); (*at)++) {
		*number = *number * 10 + (uint64_t)(**at - '0');
		if (*number > most)
			return false;
	}
	return *at > start;
}

static uint64_t
unit_seconds(char c)
{
	switch (tolower((unsigned char)c)) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 604800;
	default:
		return 0;
	}
}

bool
zone_ttl(const char *word, size_t length, uint32_t *ttl)
{
	const char *end = word + length;
	uint64_t sum = 0, number;

	do {
		if (!take_number(&word, end, INT32_MAX, &number))
			return false;
		/* Without a unit it ends. */
		if (word < end) {
			const uint64_t unit = unit_seconds(*word++);

			if (unit == 0)
				return false;
			number *= unit;
		}
		sum += number;
		if (sum > INT32_MAX)
			return false;
	} while (word < end);
	*ttl = (uint32_t)sum;
	return true;
}

enum word_kind { WORD_TTL, WORD_IN, WORD_CLASS, WORD_OTHER };

static bool
is_word(const char *word, size_t length, const char *other)
{
	return length == strlen(other) && strncasecmp(word, other, length) == 0;
}

static enum word_kind
kind_of(const char *word, size_t length)
{
	if (length > 0 && isdigit((unsigned char)word[0]))
		return WORD_TTL;
	if (is_word(word, length, "IN") || is_word(word, length, "CLASS1"))
		return WORD_IN;
	/* RFC 3597 section 5 */
	return is_word(word, length, "CH") || is_word(word, length, "HS") ||
	    is_word(word, length, "CS") || (length > 5 &&
	    strncasecmp(word, "CLASS", 5) == 0) ? WORD_CLASS : WORD_OTHER;
}

void
zone_front_take(struct zone_front *front, char *text)
{
	const char *at = text;
	bool has_class = false;

	*front = (struct zone_front){ .fault = NULL };
	if (text[0] != ' ')
		(void)zone_word(&at, &front->type);
	for (;;) {
		enum word_kind kind;
		const char *before = at;

		front->type_length = zone_word(&at, &front->type);
		kind = kind_of(front->type, front->type_length);
		if (kind == WORD_OTHER)
			return;
		if (kind == WORD_TTL ? front->has_ttl : has_class)
			front->fault = "two TTLs or two classes";
		else if (kind == WORD_CLASS)
			front->fault = "a class other than IN";
		else if (kind == WORD_TTL && !zone_ttl(front->type,
		    front->type_length, &front->ttl))
			front->fault = "a TTL that is not a number of seconds up "
			    "to 2147483647";
		if (front->fault != NULL)
			return;
		front->has_ttl |= kind == WORD_TTL;
		has_class |= kind == WORD_IN;
		memset(text + (before - text), ' ', (size_t)(at - before));
	}
}

bool
zone_range_read(struct zone_range *range, const char *word, size_t length)
{
	const char *end = word + length;
	uint64_t first, last, step = 1;

	if (!take_number(&word, end, INT32_MAX, &first) || word == end ||
	    *word++ != '-' || !take_number(&word, end, INT32_MAX, &last))
		return false;
	if (word < end && (*word++ != '/' ||
	    !take_number(&word, end, INT32_MAX, &step)))
		return false;
	*range = (struct zone_range){ (uint32_t)first, (uint32_t)last,
		(uint32_t)step };
	return word == end && first <= last && step > 0;
}

/* The hexadecimal digits from the last to the first, with dots between. */
static int
nibbles(char *to, size_t size, unsigned int width, const char *digits,
    uint32_t value)
{
	size_t n = 0;

	do {
		if (n + 3 > size)
			return -1;
		to[n++] = digits[value & 15];
		value >>= 4;
		width -= width > 0;
		if (width > 0 || value != 0) {
			to[n++] = '.';
			width -= width > 0;
		}
	} while (value != 0 || width > 0);
	return (int)n;
}

static int
put_number(char *to, size_t size, int64_t value, unsigned int width, char base)
{
	if (value < 0 || value > UINT32_MAX)
		return -1;
	switch (base) {
	case 'd':
		return snprintf(to, size, "%0*u", (int)width, (uint32_t)value);
	case 'o':
		return snprintf(to, size, "%0*o", (int)width, (uint32_t)value);
	case 'x':
		return snprintf(to, size, "%0*x", (int)width, (uint32_t)value);
	case 'X':
		return snprintf(to, size, "%0*X", (int)width, (uint32_t)value);
	case 'n':
		return nibbles(to, size, width, "0123456789abcdef",
		    (uint32_t)value);
	case 'N':
		return nibbles(to, size, width, "0123456789ABCDEF",
		    (uint32_t)value);
	default:
		return -1;
	}
}

/* "{OFFSET,WIDTH,BASE}", if it stands at *at; -1: it has a fault. */
static int
put_modified(const char **at, uint32_t number, char *to, size_t size)
{
	const char *p = *at + 1, *end = *at + strlen(*at);
	const bool negative = *p == '-';
	uint64_t offset, width = 0;
	char base = 'd';

	p += negative || *p == '+';
	if (!take_number(&p, end, INT32_MAX, &offset))
		return -1;
	if (*p == ',') {
		p++;
		if (!take_number(&p, end, WIDTH_MAX, &width))
			return -1;
	}
	if (*p == ',' && p[1] != '\0') {
		base = p[1];
		p += 2;
	}
	if (*p != '}')
		return -1;
	*at = p + 1;
	return put_number(to, size, negative ? (int64_t)number -
	    (int64_t)offset : (int64_t)number + (int64_t)offset,
	    (unsigned int)width, base);
}

size_t
zone_generate(const char *template, uint32_t number, char *to, size_t size)
{
	size_t n = 0;

	for (const char *at = template; *at != '\0';) {
		int put = 1;

		if (size - n < 3)
			return 0;
		if (at[0] == '\\' && at[1] != '\0') {
			to[n++] = *at++;	/* as it stands */
			to[n] = *at++;
		} else if (at[0] != '$') {
			to[n] = *at++;
		} else if (at[1] == '$') {
			to[n] = '$';
			at += 2;
		} else if (*++at == '{') {
			put = put_modified(&at, number, to + n, size - n);
		} else {
			put = put_number(to + n, size - n, number, 0, 'd');
		}
		if (put < 0 || (size_t)put >= size - n)
			return 0;
		n += (size_t)put;
	}
	to[n] = '\0';
	return n;
}
