/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
stream_buffer_put(struct stream_buffer *b, const uint8_t *octets, size_t length)
{
	size_t waiting = stream_buffer_length(b);
	uint8_t *grown;

	if (length == 0)
		return 0;
	if (b->start > 0)
		memmove(b->octets, b->octets + b->start, waiting);
	b->start = 0;
	b->end = waiting;
	grown = realloc(b->octets, waiting + length);
	if (grown == NULL)
		return -ENOMEM;
	memcpy(grown + waiting, octets, length);
	b->octets = grown;
	b->end = waiting + length;
	return 0;
}

void
stream_buffer_take(struct stream_buffer *b, size_t length)
{
	assert(length <= stream_buffer_length(b));
	b->start += length;
	if (b->start == b->end)
		stream_buffer_clear(b);
}

void
stream_buffer_clear(struct stream_buffer *b)
{
	free(b->octets);
	*b = (struct stream_buffer){ .octets = NULL };
}
