/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gather phase on the DNS side: what the table holds for one question,
 * with everything that deciding and answering need and nothing decided yet.
 */
#ifndef NFDNS_RESOLVER_IMAGE_LOOKUP_H
#define NFDNS_RESOLVER_IMAGE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolver/dns/name.h"
#include "resolver/dns/question.h"
#include "resolver/image/table.h"

/* The longest chain of CNAMEs that is followed; the compiler refuses longer. */
#define LOOKUP_MAX_CHAIN 16

/*
 * Views into the table and the question; a dashed name's record lies in the
 * lookup itself, which therefore is not to be copied.  The chain has the CNAME
 * RRsets to follow in order, and then, if there is one, the RRset that answers.
 */
struct lookup {
	const struct table *table;
	struct entry entry;
	size_t chain_length;
	bool has_type;		/* the last of the chain answers the type asked for */
	/*
	 * Of the last CNAME's target, if it is not in the table: somebody else
	 * has to be asked for it, or it lies in a zone, of so many labels, that
	 * says that it does not exist.
	 */
	bool leaves_table;
	bool target_unknown;
	uint8_t target_zone_labels;
	/* When there is nothing to answer with, and a zone file has an SOA for it: */
	bool has_soa;
	uint8_t soa_labels;	/* of its owner, a suffix of the name that lacks it */
	struct rrset soa;
	uint8_t dashed[16];	/* the address that the name asked for is */
	struct rrset chain[LOOKUP_MAX_CHAIN + 1];
};

/*
 * The node that a CNAME RRset leads to, or 0; *target becomes its name.  A
 * search entry is no such node: the search list is for what people type, a
 * target is absolute, and the client's resolver asks for it in its own right.
 */
uint32_t lookup_follow(const struct table *table, const struct rrset *cname,
    struct dns_name *target);

/*
 * Looks the question's name and type up, follows CNAMEs inside the table.
 * Type ANY finds one RRset (RFC 8482 section 4.1).  The SOA of a zones entry
 * is not in the table; answer.c makes it.
 */
void lookup_gather(struct lookup *lookup, const struct table *table,
    const struct question *question);

/*
 * The node of the host that records name, at most "size" octets long; 0 if it
 * is not in the table.  The search list does not count.
 */
uint32_t lookup_target(
    const struct table *table, const uint8_t *name, size_t size);

#endif
