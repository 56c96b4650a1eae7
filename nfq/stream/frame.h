/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages in a stream: each stands behind its length, RFC 1035 section 4.2.2. */
#ifndef NFDNS_NFQ_STREAM_FRAME_H
#define NFDNS_NFQ_STREAM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PREFIX		2
#define STREAM_MESSAGE_MAX	65535
#define STREAM_FRAME_MAX	(STREAM_PREFIX + STREAM_MESSAGE_MAX)

/* A view of octets that were received and not taken yet. */
struct stream_input {
	const uint8_t *octets;
	size_t left;
};

/*
 * Takes the next whole message; false, and nothing taken, if there is none.
 * Any length is a message's, 0 too.
 */
bool stream_frame_next(struct stream_input *input, const uint8_t **message,
    size_t *length);

/* Writes the length in front of a message. */
void stream_frame_put(uint8_t prefix[static STREAM_PREFIX], size_t length);

#endif
