/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that becomes a line of JSON, written into memory of the caller's.  What
 * finds no room turns "full" and drops all that follows.
 */
#ifndef NFDNS_POLICY_JSON_OUT_H
#define NFDNS_POLICY_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/name.h"

struct json_out {
	char *pos;
	char *end;
	bool full;
};

void json_octets(struct json_out *out, const char *octets, size_t length);
void json_text(struct json_out *out, const char *text);
void json_char(struct json_out *out, char c);
void json_number(struct json_out *out, uint64_t number);

/* The lowest "width" digits (10 at most), with leading zeros. */
void json_digits(struct json_out *out, uint64_t number, size_t width);

/* The key, as it is, and "true" or "false". */
void json_bool(struct json_out *out, const char *key, bool value);

/* "2026-11-20T20:25:00.123456+0000" */
void json_time(struct json_out *out, uint64_t time_ns);

/* family is AF_INET or AF_INET6. */
void json_address(struct json_out *out, int family, const uint8_t *address);

/*
 * One octet of a label or text: RFC 1035 section 5.1's escapes, whose
 * backslash JSON wants doubled.
 */
void json_escaped(struct json_out *out, uint8_t c, bool in_name);

/* Without the final dot, as EVE has it; the root is ".". */
void json_name(struct json_out *out, const struct dns_name *name);

#endif
