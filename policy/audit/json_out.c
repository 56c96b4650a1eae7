/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/json_out.h"

#include <assert.h>
#include <netinet/in.h>
#include <time.h>

#define UINT64_DIGITS	20

/* Two digits at once: half the divisions. */
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

/* 0 to 99. */
static void
put_pair(char *to, uint64_t number)
{
	memcpy(to, pairs + 2 * number, 2);
}

/* The lowest "width" digits, from the right. */
static void
put_digits(char *to, uint64_t number, size_t width)
{
	for (; width >= 2; number /= 100)
		put_pair(to + (width -= 2), number % 100);
	if (width > 0)
		*to = (char)('0' + number % 10);
}

/* How many digits a number has, from how many bits: 1233 / 4096 is log10(2). */
static size_t
width_of(uint64_t number)
{
	static const uint64_t powers[UINT64_DIGITS] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, 10000000000, 100000000000, 1000000000000,
		10000000000000, 100000000000000, 1000000000000000,
		10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000U,
	};
	const size_t bits = (size_t)(64 - __builtin_clzll(number | 1));
	const size_t width = bits * 1233 >> 12;

	return width + (number >= powers[width]);
}

void
json_number(struct json_out *out, uint64_t number)
{
	if (number < 10)
		json_char(out, (char)('0' + number));
	else
		json_digits(out, number, width_of(number));
}

void
json_digits(struct json_out *out, uint64_t number, size_t width)
{
	assert(width <= UINT64_DIGITS);
	if (json_room(out, width)) {
		put_digits(out->pos, number, width);
		out->pos += width;
	}
}

void
json_second(struct json_out *out, uint64_t seconds)
{
	static const char form[] = "0000-00-00T00:00:00";
	const time_t clock = (time_t)seconds;
	char *to = out->pos;
	struct tm tm;

	if (!json_room(out, sizeof(form) - 1))
		return;
	out->pos += sizeof(form) - 1;
	memcpy(to, form, sizeof(form) - 1);
	/* NULL only beyond the year 2^31. */
	if (gmtime_r(&clock, &tm) == NULL)
		return;
	put_digits(to, (uint64_t)tm.tm_year + 1900, 4);
	put_digits(to + 5, (uint64_t)tm.tm_mon + 1, 2);
	put_digits(to + 8, (uint64_t)tm.tm_mday, 2);
	put_digits(to + 11, (uint64_t)tm.tm_hour, 2);
	put_digits(to + 14, (uint64_t)tm.tm_min, 2);
	put_digits(to + 17, (uint64_t)tm.tm_sec, 2);
}

/* inet_ntop(3) would nearly triple an answer's record: 7849 instructions. */
static char *
put_octet(char *to, unsigned int octet)
{
	const unsigned int hundreds = octet / 100;

	if (octet < 10) {
		*to = (char)('0' + octet);
		return to + 1;
	}
	*to = (char)('0' + hundreds);
	to += hundreds > 0;
	put_pair(to, octet - 100 * hundreds);
	return to + 2;
}

static void
put_ipv4(struct json_out *out, const uint8_t *octets)
{
	char *to = out->pos;

	if (!json_room(out, sizeof("255.255.255.255") - 1))
		return;
	for (int i = 0; i < 3; i++) {
		to = put_octet(to, octets[i]);
		*to++ = '.';
	}
	out->pos = put_octet(to, octets[3]);
}

#define GROUPS	8

/* The longest run of two or more groups of zeros, the first of equals. */
struct run {
	int begin, end;
};

static struct run
longest_run(const unsigned int groups[static GROUPS])
{
	struct run longest = { GROUPS, GROUPS };
	int least = 2;

	for (int i = 0, end; i < GROUPS; i = end + 1) {
		for (end = i; end < GROUPS && groups[end] == 0; end++)
			continue;
		if (end - i >= least) {
			longest = (struct run){ i, end };
			least = end - i + 1;
		}
	}
	return longest;
}

/*
 * RFC 5952.  As inet_ntop(3) does, addresses with an IPv4 address in their end
 * (section 5) end like one: ::ffff:192.0.2.1, and ::192.0.2.1.
 */
static void
put_ipv6(struct json_out *out, const uint8_t *octets)
{
	unsigned int groups[GROUPS];
	int end = GROUPS;
	struct run run;

	for (size_t i = 0; i < GROUPS; i++)
		groups[i] = (unsigned int)octets[2 * i] << 8 |
		    octets[2 * i + 1];
	run = longest_run(groups);
	if (run.begin == 0 && (run.end == 6 ||
	    (run.end == 5 && groups[5] == 0xffff)))
		end = 6;
	for (int i = 0; i < end; i++) {
		static const char digits[] = "0123456789abcdef";
		int shift = 0;

		if (i == run.begin) {
			json_text(out, "::");
			i = run.end - 1;
			continue;
		}
		if (i > 0 && i != run.end)
			json_char(out, ':');
		while (shift < 12 && groups[i] >> shift > 15)
			shift += 4;
		for (; shift >= 0; shift -= 4)
			json_char(out, digits[groups[i] >> shift & 15]);
	}
	if (end == GROUPS)
		return;
	if (run.end != end)
		json_char(out, ':');
	put_ipv4(out, octets + 12);
}

void
json_address(struct json_out *out, int family, const uint8_t *address)
{
	if (family == AF_INET)
		put_ipv4(out, address);
	else
		put_ipv6(out, address);
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

#define IN_ALL(octet)	((octet) * UINT64_C(0x0101010101010101))

/*
 * How many of eight octets do not stand for themselves in names and in JSON:
 * controls and space, DEL, the quote, the backslash, the dot, and what is not
 * ASCII.  Each addition sets an octet's highest bit or does not, and never
 * reaches the next octet, for it adds to seven bits.
 */
static unsigned int
odd_of_eight(const char *octets)
{
	uint64_t x, ascii, odd;

	memcpy(&x, octets, sizeof(x));
	ascii = x & IN_ALL(0x7f);
	odd = x | ~(ascii + IN_ALL(0x80 - 0x21)) | (ascii + IN_ALL(0x01)) |
	    ~((ascii ^ IN_ALL('"')) + IN_ALL(0x7f)) |
	    ~((ascii ^ IN_ALL('\\')) + IN_ALL(0x7f)) |
	    ~((ascii ^ IN_ALL('.')) + IN_ALL(0x7f));
	return (unsigned int)(((odd & IN_ALL(0x80)) >> 7) * IN_ALL(1) >> 56);
}

/* What odd_of_eight() counts, among the lengths of labels. */
static bool
is_odd_length(uint8_t length)
{
	return length < 0x21 || length == '"' || length == '.';
}

/*
 * The usual name: all of its labels stand for themselves, so it is copied as
 * it is and its labels' lengths become dots.  It is usual if no more octets are
 * odd than there are such lengths.  False if not, and nothing is put.
 */
static bool
put_plain_name(struct json_out *out, const uint8_t *octets, size_t length)
{
	const size_t n = length - 2;	/* without the first length, the root */
	char *to = out->pos;
	unsigned int odd = 0;

	if ((size_t)(out->end - to) < n + sizeof(uint64_t))
		return false;
	memcpy(to, octets + 1, n);
	memset(to + n, 'x', sizeof(uint64_t));
	for (size_t i = 0; i < n; i += sizeof(uint64_t))
		odd += odd_of_eight(to + i);
	for (size_t i = octets[0]; i < n; i += octets[i + 1] + 1U) {
		odd -= is_odd_length(octets[i + 1]);
		to[i] = '.';
	}
	if (odd > 0)
		return false;
	out->pos += n;
	return true;
}

void
json_name(struct json_out *out, const uint8_t *octets, size_t length)
{
	const uint8_t *label = octets;

	if (length < 2) {
		json_char(out, '.');
		return;
	}
	if (put_plain_name(out, octets, length))
		return;
	for (; *label != 0; label += *label + 1) {
		if (label != octets)
			json_char(out, '.');
		for (uint8_t i = 1; i <= *label; i++)
			json_escaped(out, label[i], true);
	}
}
