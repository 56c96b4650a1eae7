/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes text of a line of JSON into the caller's memory.  The first text that
 * does not fit sets "full", and everything after it is dropped.  The functions
 * in this header are inline: with a literal each is a few instructions, and a
 * line takes dozens of calls.
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

/* Whether there is room for n octets at pos; sets full if not. */
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

/* The key, as it is, and the number. */
static inline void
json_pair(struct json_out *out, const char *key, uint64_t number)
{
	json_text(out, key);
	json_number(out, number);
}

/* The lowest "width" digits (20 at most), with leading zeros. */
void json_digits(struct json_out *out, uint64_t number, size_t width);

/* "2026-11-20T20:25:00", in UTC; seconds since 1970. */
void json_second(struct json_out *out, uint64_t seconds);

/* As inet_ntop(3) writes it; family is AF_INET or AF_INET6. */
void json_address(struct json_out *out, int family, const uint8_t *address);

/*
 * Puts one octet of a label or a text with the escapes of RFC 1035 section 5.1,
 * whose backslash JSON doubles.
 */
void json_escaped(struct json_out *out, uint8_t c, bool in_name);

/*
 * Puts a name in wire format, not compressed; length includes the root's label.
 * The text has no final dot, as in EVE; the root is ".".
 */
void json_name(struct json_out *out, const uint8_t *octets, size_t length);

#endif
