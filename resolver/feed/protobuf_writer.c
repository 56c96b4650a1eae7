/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/feed/protobuf_writer.h"

#include <stdlib.h>
#include <string.h>

#define VARINT_MAX	10		/* octets */
#define SIZE_MOST	((size_t)1 << 24)

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

void
protobuf_writer_free(struct protobuf_writer *writer)
{
	free(writer->octets);
	memset(writer, 0, sizeof(*writer));
}

/* Room for n octets at the end, or NULL. */
static uint8_t *
reserve(struct protobuf_writer *w, size_t n)
{
	size_t size = w->size != 0 ? w->size : 256;
	uint8_t *octets;

	if (w->failed || n > SIZE_MOST || w->length > SIZE_MOST - n)
		goto failed;
	while (size < w->length + n)
		size *= 2;
	if (size != w->size) {
		octets = realloc(w->octets, size);
		if (octets == NULL)
			goto failed;
		w->octets = octets;
		w->size = size;
	}
	w->length += n;
	return w->octets + w->length - n;
failed:
	w->failed = true;
	return NULL;
}

static size_t
put_varint(uint8_t out[static VARINT_MAX], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		out[n++] = (uint8_t)(value | 0x80);
	out[n++] = (uint8_t)value;
	return n;
}

static void
append(struct protobuf_writer *w, const void *octets, size_t length)
{
	uint8_t *p = reserve(w, length);

	if (p != NULL && length > 0)
		memcpy(p, octets, length);
}

/* The field's number and type, and a number: the value, or a length. */
static size_t
put_head(uint8_t out[static 2 * VARINT_MAX], uint32_t field,
    enum wire_type type, uint64_t number)
{
	size_t n = put_varint(out, (uint64_t)field << 3 | type);

	return n + put_varint(out + n, number);
}

void
protobuf_write_varint(struct protobuf_writer *writer, uint32_t field,
    uint64_t value)
{
	uint8_t head[2 * VARINT_MAX];

	append(writer, head, put_head(head, field, WIRE_VARINT, value));
}

void
protobuf_write_octets(struct protobuf_writer *writer, uint32_t field,
    const void *octets, size_t length)
{
	uint8_t head[2 * VARINT_MAX];

	append(writer, head, put_head(head, field, WIRE_LENGTH, length));
	append(writer, octets, length);
}

void
protobuf_write_string(struct protobuf_writer *writer, uint32_t field,
    const char *text)
{
	if (text != NULL && *text != '\0')
		protobuf_write_octets(writer, field, text, strlen(text));
}

size_t
protobuf_begin(const struct protobuf_writer *writer)
{
	return writer->length;
}

void
protobuf_end(struct protobuf_writer *writer, uint32_t field, size_t begin)
{
	uint8_t head[2 * VARINT_MAX];
	size_t length = writer->length - begin, n;

	n = put_head(head, field, WIRE_LENGTH, length);
	if (reserve(writer, n) == NULL)
		return;
	memmove(writer->octets + begin + n, writer->octets + begin, length);
	memcpy(writer->octets + begin, head, n);
}
