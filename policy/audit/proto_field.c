/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/proto_field.h"

#include <endian.h>
#include <string.h>

enum { VARINT = 0, OCTETS = 2, FIXED32 = 5 };	/* types on the wire */

static bool
read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int bits = 0; bits < 63 && *at < end; bits += 7) {
		const uint8_t octet = *(*at)++;

		*value |= (uint64_t)(octet & 0x7f) << bits;
		if ((octet & 0x80) == 0)
			return true;
	}
	return false;
}

static bool
read_fixed32(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	uint32_t octets;

	if ((size_t)(end - *at) < sizeof(octets))
		return false;
	memcpy(&octets, *at, sizeof(octets));
	*at += sizeof(octets);
	*value = le32toh(octets);
	return true;
}

bool
proto_field_next(struct proto_field *field, const uint8_t **at,
    const uint8_t *end)
{
	uint64_t tag, length;

	*field = (struct proto_field){ .octets = NULL };
	if (!read_varint(at, end, &tag))
		return false;
	field->number = tag >> 3;
	if ((tag & 7) == VARINT)
		return read_varint(at, end, &field->value);
	if ((tag & 7) == FIXED32)
		return read_fixed32(at, end, &field->value);
	if ((tag & 7) != OCTETS || !read_varint(at, end, &length) ||
	    length > (uint64_t)(end - *at))
		return false;
	field->octets = *at;
	field->length = (size_t)length;
	*at += length;
	return true;
}
