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

/* As protobuf_next(), of which it is the rare and longer part. */
bool protobuf_next_any(struct protobuf *p, struct protobuf_field *field);

/*
 * The next field.  False at the end of the message and on failure.  Nearly all
 * fields of a name table have a tag and a length of one octet each: these are
 * read here.
 */
static inline bool
protobuf_next(struct protobuf *p, struct protobuf_field *field)
{
	const uint8_t *at = p->at;
	const size_t left = (size_t)(p->end - at);

	if (p->failed || left < 2 || (at[0] & 0x87) != PROTOBUF_OCTETS ||
	    at[0] < 1 << 3 || at[1] > 0x7f || at[1] > left - 2)
		return protobuf_next_any(p, field);
	field->number = at[0] >> 3;
	field->type = PROTOBUF_OCTETS;
	field->octets = (struct span){ (const char *)at + 2, at[1] };
	p->at = at + 2 + at[1];
	return true;
}

#endif
