/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/sources/protobuf.h"

#include <endian.h>

/* Octets of seven bits each: of a number of 64 bits, and of a tag of 32. */
#define MAX_VARINT	10
#define MAX_TAG		5

/* Zero and no movement after a failure, and if there are fewer octets. */
static const uint8_t *
take(struct protobuf *p, uint64_t n)
{
	const uint8_t *octets = p->at;

	if (p->failed || (uint64_t)(p->end - p->at) < n) {
		p->failed = true;
		return NULL;
	}
	p->at += n;
	return octets;
}

/* Lowest bits first, in "most" octets at most; bits above the 64th are dropped. */
static uint64_t
read_varint(struct protobuf *p, unsigned int most)
{
	uint64_t value = 0;

	if (!p->failed && p->at < p->end && (*p->at & 0x80) == 0)
		return *p->at++;
	for (unsigned int i = 0; i < most; i++) {
		const uint8_t *octet = take(p, 1);

		if (octet == NULL)
			return 0;
		value |= (uint64_t)(*octet & 0x7f) << i * 7;
		if ((*octet & 0x80) == 0)
			return value;
	}
	p->failed = true;
	return 0;
}

static uint64_t
read_fixed64(struct protobuf *p)
{
	const uint8_t *octets = take(p, sizeof(uint64_t));
	uint64_t value = 0;

	if (octets != NULL)
		memcpy(&value, octets, sizeof(value));
	return le64toh(value);
}

static uint32_t
read_fixed32(struct protobuf *p)
{
	const uint8_t *octets = take(p, sizeof(uint32_t));
	uint32_t value = 0;

	if (octets != NULL)
		memcpy(&value, octets, sizeof(value));
	return le32toh(value);
}

/* A field as far as one step goes: a group is only begun or ended. */
static void
read_field(struct protobuf *p, struct protobuf_field *field)
{
	/* The library drops upper bits, too. */
	const uint32_t tag = (uint32_t)read_varint(p, MAX_TAG);
	uint64_t length;

	field->number = tag >> 3;
	field->type = (enum protobuf_type)(tag & 7);
	if (field->number == 0)
		p->failed = true;
	switch (field->type) {
	case PROTOBUF_VARINT:
		field->value = read_varint(p, MAX_VARINT);
		break;
	case PROTOBUF_FIXED64:
		field->value = read_fixed64(p);
		break;
	case PROTOBUF_OCTETS:
		length = read_varint(p, MAX_VARINT);
		field->octets.text = (const char *)take(p, length);
		field->octets.length = (size_t)length;
		break;
	case PROTOBUF_FIXED32:
		field->value = read_fixed32(p);
		break;
	case PROTOBUF_GROUP:
	case PROTOBUF_GROUP_END:
		break;
	default:
		p->failed = true;
		break;
	}
}

/* Steps behind the end of the group that has begun. */
static void
skip_group(struct protobuf *p, uint32_t number)
{
	uint32_t open[PROTOBUF_MAX_GROUPS];
	struct protobuf_field field;
	size_t depth = 0;

	open[depth++] = number;
	while (depth > 0 && !p->failed) {
		read_field(p, &field);
		if (field.type == PROTOBUF_GROUP) {
			if (depth == PROTOBUF_MAX_GROUPS)
				p->failed = true;
			else
				open[depth++] = field.number;
		} else if (field.type == PROTOBUF_GROUP_END &&
		    field.number != open[--depth]) {
			p->failed = true;
		}
	}
}

bool
protobuf_next_any(struct protobuf *p, struct protobuf_field *field)
{
	if (p->failed || p->at == p->end)
		return false;
	read_field(p, field);
	if (field->type == PROTOBUF_GROUP)
		skip_group(p, field->number);
	else if (field->type == PROTOBUF_GROUP_END)
		p->failed = true;	/* of none that was begun */
	return !p->failed;
}
