/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/audit/pcapng_block.h"

#define END_OF_OPTIONS	0U

size_t
pcapng_options_at(const uint8_t *block, size_t length)
{
	size_t packet;

	switch (pcapng_u32(block)) {
	case PCAPNG_SECTION:
		return 24;
	case PCAPNG_INTERFACE:
		return 16;
	case PCAPNG_STATISTICS:
		return 20;
	case PCAPNG_PACKET:
		packet = length >= PCAPNG_PACKET_HEADER ?
		    pcapng_u32(block + 20) : length;
		return packet < length ? PCAPNG_PACKET_HEADER +
		    ((packet + 3) & ~(size_t)3) : 0;
	default:
		return 0;
	}
}

struct pcapng_options
pcapng_options(const uint8_t *octets, size_t at, size_t length)
{
	const size_t end = at + length - sizeof(uint32_t);
	const size_t options = pcapng_options_at(octets + at, length);

	return (struct pcapng_options){ octets,
		options > 0 && options < length ? at + options : end, end };
}

bool
pcapng_option_next(struct pcapng_options *options,
    struct pcapng_option *option)
{
	uint32_t head;

	if (options->end < sizeof(head) ||
	    options->at > options->end - sizeof(head))
		return false;
	head = pcapng_u32(options->octets + options->at);
	option->code = (uint16_t)head;
	option->length = head >> 16;
	option->at = options->at + sizeof(head);
	options->at = option->at + ((option->length + 3) & ~(size_t)3);
	return option->code != END_OF_OPTIONS &&
	    option->length <= options->end - option->at;
}
