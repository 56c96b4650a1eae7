/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An answer while it is written, and the writing of its records.  Sections are
 * written front to back; the owner of a record is always a pointer to a name
 * that was written before.
 */
#ifndef NFDNS_RESOLVER_ANSWER_DRAFT_H
#define NFDNS_RESOLVER_ANSWER_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/answer/answer.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define RECORD_OCTETS	12	/* with a compressed owner and without rdata */
#define DRAFT_POINTER	0xc000	/* of compression: RFC 1035 section 4.1.4 */

struct draft {
	const struct answer_plan *plan;
	struct wire_writer sections;	/* ends before the space of the OPT */
	size_t owner;			/* offset of the current owner's name */
	size_t owner_length;		/* of that name, uncompressed */
	size_t last;			/* offset of the last RRset of the answer */
	uint32_t answers;
	uint32_t authorities;
	uint32_t additionals;
	bool truncated;
};

/* All of a record before its rdata, in as few words as possible. */
struct draft_head {
	uint64_t front;
	uint32_t back;
};

static inline struct draft_head
draft_head_of(size_t owner, uint16_t type, uint16_t class, uint32_t ttl,
    size_t rdlength)
{
	return (struct draft_head){
		.front = (uint64_t)(DRAFT_POINTER | owner) << 48 |
		    (uint64_t)type << 32 | (uint64_t)class << 16 | ttl >> 16,
		.back = ttl << 16 | (uint32_t)rdlength,
	};
}

static inline void
draft_store_head(uint8_t p[static RECORD_OCTETS], struct draft_head head)
{
	wire_store_u64(p, head.front);
	wire_store_u32(p + 8, head.back);
}

/* A record's head at p; owner is the offset of its name, ttl in seconds. */
static inline void
draft_store_record(uint8_t p[static RECORD_OCTETS], size_t owner,
    uint16_t type, uint16_t class, uint32_t ttl, size_t rdlength)
{
	draft_store_head(p, draft_head_of(owner, type, class, ttl, rdlength));
}

/* Whether rdata of a type names hosts whose addresses clients ask for next. */
static inline bool
draft_names_hosts(uint16_t type)
{
	return type == TYPE_SRV || type == TYPE_NS || type == TYPE_MX;
}

/*
 * Writes records of one length, as addresses have, of the current owner.  If
 * not all of them fit, writes none, marks the writer full and returns false.
 */
bool draft_write_fixed(struct draft *d, const struct rrset *rrset);

/*
 * Writes the lookup's chain in order, and counts it.  The owner of the RRset
 * behind a CNAME is its target, which was just written as that record's rdata;
 * in the end it is the last one's.  If not all records fit, writes those that
 * do, sets truncated and marks the writer full.
 */
void draft_write_chain(struct draft *d);

#endif
