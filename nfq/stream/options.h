/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EDNS options that answers over TCP carry. */
#ifndef NFDNS_NFQ_STREAM_OPTIONS_H
#define NFDNS_NFQ_STREAM_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/question.h"
#include "resolver/dns/rr.h"

/* Padded answers have a multiple of this length (RFC 8467 section 4.1). */
#define STREAM_PADDING_BLOCK 468

/* Octets to keep free behind an answer for the options but the padding. */
#define STREAM_OPTIONS_ROOM 32

struct stream_options {
	enum extended_error error;	/* EDE_NONE: none */
	uint16_t idle;			/* of the connection, 100 ms units */
};

/*
 * Adds to an answer that ends with an empty OPT, as answer_build() writes it:
 * the extended error (RFC 8914); the idle time (RFC 7828 section 3.2.2) and
 * padding (RFC 7830 section 4) if they were asked for.  No OPT is in an answer
 * to a question that had none; then there is nothing to do.  What has no room
 * in size octets is left out.  Returns the new length.
 */
size_t stream_options_add(const struct stream_options *options,
    const struct edns *asked, uint8_t *answer, size_t length, size_t size);

#endif
