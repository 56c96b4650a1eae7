/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that becomes a line of JSON, written into memory of the caller's.  What
 * finds no room turns "full" and drops all that follows.  The functions that
 * stand in the header are a few instructions each where the text is a literal,
 * and a line is made of dozens.
 */
#ifndef NFDNS_POLICY_AUDIT_JSON_OUT_H
#define NFDNS_POLICY_AUDIT_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct json_out {
	char *pos;
	char *end;
	bool full;
};

/* Whether there is room for n octets at pos; full if not. */
static inline bool
json_room(struct json_out *out, size_t n)
{
	if ((size_t)(out->end - out->pos) >= n)
		return true;
	out->end = out->pos;
	out->full = true;
	return false;
}

static inline void
json_octets(struct json_out *out, const char *octets, size_t length)
{
	if (json_room(out, length)) {
		memcpy(out->pos, octets, length);
		out->pos += length;
	}
}

static inline void
json_text(struct json_out *out, const char *text)
{
	json_octets(out, text, strlen(text));
}

static inline void
json_char(struct json_out *out, char c)
{
	if (json_room(out, 1))
		*out->pos++ = c;
}

/* The key, as it is, and "true" or "false". */
static inline void
json_bool(struct json_out *out, const char *key, bool value)
{
	json_text(out, key);
	json_text(out, value ? "true" : "false");
}

void json_number(struct json_out *out, uint64_t number);

/* The lowest "width" digits (20 at most), with leading zeros. */
void json_digits(struct json_out *out, uint64_t number, size_t width);

/* "2026-11-20T20:25:00", in UTC; seconds since 1970. */
void json_second(struct json_out *out, uint64_t seconds);

/* As inet_ntop(3) writes it; family is AF_INET or AF_INET6. */
void json_address(struct json_out *out, int family, const uint8_t *address);

/*
 * One octet of a label or text: RFC 1035 section 5.1's escapes, whose
 * backslash JSON wants doubled.
 */
void json_escaped(struct json_out *out, uint8_t c, bool in_name);

/*
 * A name in wire format, not compressed, of that length with the root's label.
 * Without the final dot, as EVE has it; the root is ".".
 */
void json_name(struct json_out *out, const uint8_t *octets, size_t length);

#endif
