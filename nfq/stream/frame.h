/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS messages in a TCP stream: each follows its length (RFC 1035 4.2.2). */
#ifndef NFDNS_NFQ_STREAM_FRAME_H
#define NFDNS_NFQ_STREAM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PREFIX		2
#define STREAM_MESSAGE_MAX	65535
#define STREAM_FRAME_MAX	(STREAM_PREFIX + STREAM_MESSAGE_MAX)

/* A view of received octets from which no message has been taken yet. */
struct stream_input {
	const uint8_t *octets;
	size_t left;
};

/*
 * Takes the next message; *message borrows from input.  Returns false, and
 * takes nothing, if the message is not whole.  A message may be empty.
 */
bool stream_frame_next(struct stream_input *input, const uint8_t **message,
    size_t *length);

/* Writes the length of the message that will follow. */
void stream_frame_put(uint8_t prefix[static STREAM_PREFIX], size_t length);

#endif
