/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that come from a peer. */
#ifndef NFDNS_RESOLVER_FEED_TEXT_H
#define NFDNS_RESOLVER_FEED_TEXT_H

#include <stddef.h>

#include "resolver/feed/feed.h"

/*
 * Copies at most "size" octets, of which "%41" and the like are one; what is encoded
 * wrongly stays as it is.  Returns how many.
 */
size_t feed_text_decode(char *out, size_t size, const char *text,
    size_t length);

/* A number of at most six digits and nothing else, or "otherwise". */
unsigned int feed_text_number(const void *text, size_t length,
    unsigned int otherwise);

/* One or two words: "connect", "TLS", "timed out". */
const char *feed_cause_name(enum feed_cause cause);

#endif
