/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The EDNS options in answers over TCP. */
#ifndef NFDNS_NFQ_STREAM_OPTIONS_H
#define NFDNS_NFQ_STREAM_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/question.h"
#include "resolver/dns/rr.h"

/*
 * The length of a padded answer is a multiple of this (RFC 8467 section 4.1).
 */
#define STREAM_PADDING_BLOCK 468

/* Octets to keep free after an answer for all options except padding. */
#define STREAM_OPTIONS_ROOM 32

struct stream_options {
	enum extended_error error;	/* EDE_NONE: none */
	uint16_t idle;			/* idle timeout, in units of 100 ms */
	uint16_t present;		/* octets of options in the OPT already */
};

/*
 * Adds options to an answer of "length" octets, which ends with an OPT record
 * that has "present" octets of options, as answer_build() writes it: the
 * extended error (RFC 8914), and, if the question asked for them, the idle
 * timeout (RFC 7828 section 3.2.2) and padding (RFC 7830 section 4).  An option
 * that does not fit into "size" octets is left out.  If the question had no
 * OPT, the answer has none; such an answer, and one with another end, stays as
 * it is.  Returns the answer's new length.
 */
size_t stream_options_add(const struct stream_options *options,
    const struct edns *asked, uint8_t *answer, size_t length, size_t size);

#endif
