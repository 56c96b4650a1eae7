/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The act phase on the DNS side: writes the answer to one question.
 */
#ifndef NFDNS_RESOLVER_ANSWER_ANSWER_H
#define NFDNS_RESOLVER_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/image/lookup.h"
#include "resolver/dns/question.h"

/* What the answer section and authority section hold. */
enum answer_content {
	ANSWER_RECORDS,	 /* the lookup's chain */
	ANSWER_CHAIN,	 /* the same, and more that we do not have follows */
	ANSWER_NEGATIVE, /* chain up to the miss, and the SOA (RFC 2308) */
	ANSWER_EMPTY,	 /* neither: FORMERR, SERVFAIL, BADVERS, ... */
	ANSWER_TEXT,	 /* one CH TXT record with "text" (RFC 4892) */
	ANSWER_SOA,	 /* the zone's SOA as the answer */
};

struct answer_plan {
	const struct question *question;
	const struct lookup *lookup; /* may be NULL for EMPTY and TEXT */
	enum answer_content content;
	uint16_t rcode;			/* above 15 only if the question had EDNS */
	uint32_t negative_ttl;
	uint16_t udp_size;		/* our own cap, octets */
	bool stream;			/* TCP: no size limit but the buffer's */
	uint32_t rotation;		/* which address comes first, modulo their number */
	const char *text;
};

/* What went into the answer, for counters and audit. */
struct answer_summary {
	uint32_t answers;		/* records in the answer section */
	size_t target;			/* CHAIN: offset of the name, uncompressed,
					   whose records are to follow */
	bool truncated;
};

/* A buffer of this size never truncates a UDP answer further than the client's size. */
#define ANSWER_UDP_MAX 4096

/*
 * Writes the answer into buf.  If an RRset does not fit, the answer ends with as
 * many of its records as do, from "rotation" on, and has TC=1.  A CHAIN has
 * TC=1, too: the rest is had over TCP; with "stream" it has not, since the
 * caller adds the rest (chase.h).  The question
 * is echoed octet for octet; for forms that have none, QDCOUNT is 0.
 * OPT if and only if the question had one and its form is not TWO_OPT or MANY.
 * Header: QR, AA, RA set, RD and CD copied, AD and Z clear.
 * size is at least 512.  Returns the length of the answer.
 */
size_t answer_build(const struct answer_plan *plan, uint8_t *buf, size_t size,
    struct answer_summary *summary);

#endif
