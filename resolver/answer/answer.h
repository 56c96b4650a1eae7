/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Act phase of the resolver: writes the answer to one question. */
#ifndef NFDNS_RESOLVER_ANSWER_ANSWER_H
#define NFDNS_RESOLVER_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/answer/settings.h"
#include "resolver/dns/question.h"
#include "resolver/dns/rr.h"
#include "resolver/image/lookup.h"

/* Contents of the answer and authority sections. */
enum answer_content {
	ANSWER_RECORDS,	 /* the lookup's chain */
	ANSWER_CHAIN,	 /* the same; it ends with a name outside the table */
	ANSWER_NEGATIVE, /* the chain, if any, and the SOA (RFC 2308) */
	ANSWER_EMPTY,	 /* both empty: FORMERR, SERVFAIL, BADVERS, ... */
	ANSWER_TEXT,	 /* one CH TXT record with "text" (RFC 4892) */
	ANSWER_SOA,	 /* the zone's SOA in the answer section */
	ANSWER_CUT,	 /* both empty and TC=1: the client asks over TCP */
};

/* What to write.  Borrows all; nothing is kept after answer_build(). */
struct answer_plan {
	const struct question *question;
	const struct lookup *lookup; /* may be NULL for EMPTY and TEXT */
	enum answer_content content;
	uint16_t rcode;			/* above 15 only if the question had EDNS */
	const struct answer_settings *settings;
	bool others;			/* not our name: the answer has no AA */
	bool stream;			/* TCP: only the buffer limits the size */
	bool bare;			/* no addresses of hosts that records name: no
					 * rule has judged these */
	uint32_t rotation;		/* modulo their number: the first address */
	const char *text;		/* of ANSWER_TEXT */
	enum extended_error error;	/* in the OPT, if there is one */
	const char *error_text;		/* of "error"; no NUL */
	uint8_t error_length;		/* octets of it, at most 63 */
};

/* What the answer holds, for counters and audit. */
struct answer_summary {
	uint32_t answers;		/* records in the answer section */
	size_t target;			/* CHAIN: offset of the last target's
					   name, uncompressed */
	uint16_t options;		/* octets of options in the OPT */
	bool truncated;
};

/* No UDP answer is longer: settings->udp_size does not exceed it. */
#define ANSWER_UDP_MAX 4096

/*
 * Writes the answer into buf, of size octets, at least 512.  Returns its length.
 *
 * If an RRset does not fit, the answer ends with those of its records that do,
 * starting at "rotation", and has TC=1.  A CHAIN also has TC=1, so that the
 * client asks over TCP; not so with "stream", where the caller appends the rest
 * (chase.h).  The question is echoed octet for octet; a form without a question
 * has QDCOUNT 0.  There is an OPT if and only if the question had exactly one
 * and its form is not MANY; if there is an "error", the OPT has it (RFC 8914).
 * Header: QR, AA (but for "others"), RA set, opcode, RD and CD copied, AD and
 * Z clear.
 */
size_t answer_build(const struct answer_plan *plan, uint8_t *buf, size_t size,
    struct answer_summary *summary);

#endif
