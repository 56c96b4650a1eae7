/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer while it is written: what answer.c and answer_additional.c share. */
#ifndef NFDNS_RESOLVER_ANSWER_DRAFT_H
#define NFDNS_RESOLVER_ANSWER_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/answer/answer.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define RECORD_OCTETS	12	/* with a compressed owner and without rdata */

struct draft {
	const struct answer_plan *plan;
	struct wire_writer sections;	/* ends where the OPT has its place */
	size_t owner;			/* offset of the current owner's name */
	size_t owner_length;		/* of that name, uncompressed */
	size_t last;			/* offset of the last RRset of the answer */
	uint32_t answers;
	uint32_t authorities;
	uint32_t additionals;
	bool truncated;
};

/*
 * Records of one length, which addresses are, of the current owner.  False,
 * and the writer full, if not all of them fit.
 */
bool answer_write_fixed(struct draft *d, const struct rrset *rrset);

/* Whether the data of a type names hosts whose addresses are wanted next. */
static inline bool
answer_leads_on(uint16_t type)
{
	return type == TYPE_SRV || type == TYPE_NS || type == TYPE_MX;
}

/*
 * The addresses of the hosts that the last RRset of the answer names, which it
 * does if its type leads on, as far as the table has them and they fit: what
 * is missing here is no truncation (RFC 2181 section 9).
 */
void answer_write_additional(struct draft *d);

#endif
