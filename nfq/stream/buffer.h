/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of octets, which takes memory only while it is not empty. */
#ifndef NFDNS_NFQ_STREAM_BUFFER_H
#define NFDNS_NFQ_STREAM_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct stream_buffer {
	uint8_t *octets;		/* owned; NULL when empty */
	size_t start, end;		/* what is left of them */
};

static inline size_t
stream_buffer_length(const struct stream_buffer *buffer)
{
	return buffer->end - buffer->start;
}

/* Appends a copy.  0; or -ENOMEM, and nothing was appended. */
int stream_buffer_put(struct stream_buffer *buffer, const uint8_t *octets,
    size_t length) __attribute__((warn_unused_result));

/* Removes the first octets, at most all that there are. */
void stream_buffer_take(struct stream_buffer *buffer, size_t length);

/* Removes all octets and frees the memory. */
void stream_buffer_clear(struct stream_buffer *buffer);

#endif
