/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/parts.h"

#include <assert.h>

#include "resolver/dns/wire.h"

bool
stream_frame_next(struct stream_input *input, const uint8_t **message,
    size_t *length)
{
	size_t announced;

	if (input->left < STREAM_PREFIX)
		return false;
	announced = (size_t)input->octets[0] << 8 | input->octets[1];
	if (input->left - STREAM_PREFIX < announced)
		return false;
	*message = input->octets + STREAM_PREFIX;
	*length = announced;
	input->octets += STREAM_PREFIX + announced;
	input->left -= STREAM_PREFIX + announced;
	return true;
}

void
stream_frame_put(uint8_t prefix[static STREAM_PREFIX], size_t length)
{
	assert(length <= STREAM_MESSAGE_MAX);
	wire_store_u16(prefix, (uint16_t)length);
}
