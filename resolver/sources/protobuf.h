/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cursor over a message of protocol buffers in its binary form (wire format:
 * protobuf.dev/programming-guides/encoding).  It yields one field after the
 * other where it stands; it copies and allocates nothing.
 *
 * The error is sticky, as in wire.h: after a field that is malformed or leaves
 * the message there are no more fields, and "failed" is set.  The caller
 * ignores fields whose number or type it does not know.
 */
#ifndef NFDNS_RESOLVER_SOURCES_PROTOBUF_H
#define NFDNS_RESOLVER_SOURCES_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/text/span.h"

/* How deep groups may lie in each other, as in the library. */
#define PROTOBUF_MAX_GROUPS	100

/* The end of a group is never yielded, and a group is one field. */
enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_OCTETS = 2,		/* strings, bytes, messages */
	PROTOBUF_GROUP = 3,		/* obsolete: only its extent is known */
	PROTOBUF_GROUP_END = 4,
	PROTOBUF_FIXED32 = 5,
};

/* Borrows the octets between at and end. */
struct protobuf {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

struct protobuf_field {
	uint32_t number;		/* 1 to 2^29 - 1 */
	enum protobuf_type type;
	uint64_t value;			/* VARINT, FIXED32, FIXED64 */
	struct span octets;		/* OCTETS, borrowed */
};

static inline struct protobuf
protobuf_over(const void *octets, size_t length)
{
	const uint8_t *p = octets;

	return (struct protobuf){ p, p + length, false };
}

/* The message inside a field of octets. */
static inline struct protobuf
protobuf_inside(struct span octets)
{
	return protobuf_over(octets.text, octets.length);
}

/* The next field.  False at the end of the message and on failure. */
bool protobuf_next(struct protobuf *p, struct protobuf_field *field);

#endif
