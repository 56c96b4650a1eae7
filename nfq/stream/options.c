/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/stream/options.h"

#include <string.h>

#include "resolver/dns/wire.h"

#define OPTION_HEADER	4
#define RDLENGTH	2	/* the last field of an empty OPT */

static void
put_u16_option(struct wire_writer *w, uint16_t code, uint16_t value)
{
	uint8_t *p = wire_reserve(w, OPTION_HEADER + 2);

	if (p == NULL) {
		w->full = false;	/* what comes next may be shorter */
		return;
	}
	wire_store_u16(p, code);
	wire_store_u16(p + 2, 2);
	wire_store_u16(p + 4, value);
}

static void
put_padding(struct wire_writer *w)
{
	size_t length = wire_written(w) + OPTION_HEADER;
	size_t octets = (STREAM_PADDING_BLOCK - length % STREAM_PADDING_BLOCK) %
	    STREAM_PADDING_BLOCK;
	size_t room = (size_t)(w->end - w->pos);
	uint8_t *p;

	if (room < OPTION_HEADER)
		return;
	if (octets > room - OPTION_HEADER)
		octets = room - OPTION_HEADER;
	p = wire_reserve(w, OPTION_HEADER + octets);
	if (p == NULL)
		return;
	wire_store_u16(p, OPTION_PADDING);
	wire_store_u16(p + 2, (uint16_t)octets);
	memset(p + OPTION_HEADER, 0, octets);
}

size_t
stream_options_add(const struct stream_options *options,
    const struct edns *asked, uint8_t *answer, size_t length, size_t size)
{
	struct wire_writer w = wire_writer_over(answer, size);
	const size_t behind = RDLENGTH + (size_t)options->present;
	uint8_t *rdlength;

	if (!asked->present || length < behind || length > size)
		return length;
	rdlength = answer + length - behind;
	/* Whatever stands there else is no OPT of ours. */
	if (wire_load_u16(rdlength) != options->present)
		return length;
	w.pos += length;
	if (options->error != EDE_NONE)
		put_u16_option(&w, OPTION_EDE, (uint16_t)options->error);
	if (asked->keepalive)
		put_u16_option(&w, OPTION_KEEPALIVE, options->idle);
	if (asked->padding)
		put_padding(&w);
	wire_store_u16(rdlength, (uint16_t)(wire_written(&w) - length +
	    options->present));
	return wire_written(&w);
}
