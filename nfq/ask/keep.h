/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which replies may be kept in the cache, for how long, and what is kept. */
#ifndef NFDNS_NFQ_ASK_KEEP_H
#define NFDNS_NFQ_ASK_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfq/cache/cache.h"
#include "nfq/ask/message.h"
#include "policy/config/forward_settings.h"

struct keep_limits {
	const struct forward_cache_settings *cache;
	uint32_t negative_max_s;	/* of the domain */
	uint32_t wall_s;		/* seconds since 1970; 0: unknown */
};

struct keep {
	enum cache_kind kind;
	uint32_t ttl_s;			/* above 0 */
};

/*
 * Whether a reply that answers the question (its view has one question) may be
 * kept.  Not kept are: truncated ones, classes other than IN, codes other than
 * NOERROR and NXDOMAIN, denials without SOA (RFC 2308 section 5), TTL 0, an answer
 * that depends on the client's network (RFC 7871), one whose chain of CNAMEs does
 * not lead from the question to its record or to a SOA, one with an expired
 * RRSIG, and one that costs too much to read.
 */
bool keep_reply(struct keep *keep, const struct message *message,
    const struct question *question, const struct keep_limits *limits);

/*
 * The extended error (RFC 8914) of a message that is kept stands where its id was;
 * 0: none.  Its text is not kept.
 */
void keep_ede(uint8_t message[static DNS_HEADER], uint16_t ede);
uint16_t kept_ede(const struct message *message);

/*
 * Writes what is kept of a reply: its extended error, no AA, the name in lower case, no OPT,
 * TTLs within the limits.  0 if that is longer than CACHE_MESSAGE_MAX.
 */
size_t keep_write(const struct keep *keep, const struct message *message,
    const struct question *question, const struct keep_limits *limits,
    uint8_t out[static CACHE_MESSAGE_MAX]);

#endif
