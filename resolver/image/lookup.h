/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gather phase of the resolver: collects what the table holds for one question,
 * all that deciding and answering need.  Nothing is decided here.
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
 * Borrows from the table and the question.  Must not be copied: the record of a
 * dashed name lies in the lookup itself.  The chain is the CNAME RRsets in
 * order, followed by the RRset of the type asked for, if there is one.
 */
struct lookup {
	const struct table *table;
	struct entry entry;
	size_t chain_length;
	bool has_type;		/* the last of the chain is of the type */
	/*
	 * If the last CNAME's target is not in the table: another nameserver
	 * has to be asked for it (leaves_table), or it lies in a zones entry
	 * with that many labels and unknown = "nxdomain" (target_unknown).
	 */
	bool leaves_table;
	bool target_unknown;
	uint8_t target_zone_labels;
	/* If there are no records to answer with: the SOA of a zone file. */
	bool has_soa;
	uint8_t soa_labels;	/* of its owner, a suffix of the last name */
	struct rrset soa;
	struct rrset chain[LOOKUP_MAX_CHAIN + 1];
	uint8_t target[2 + NAME_MAX_OCTETS];	/* data of a CNAME that is made */
};

/* The one target of a CNAME RRset, lower-cased.  False: it is no name. */
bool lookup_read_target(struct dns_name *target, const struct rrset *cname);

/*
 * The node of a CNAME RRset's target, or 0; *target becomes its name.  The
 * search list is not applied: a target is absolute.
 */
uint32_t lookup_follow(const struct table *table, const struct rrset *cname,
    struct dns_name *target);

/*
 * Looks up the question's name and type, and follows CNAMEs inside the table.
 * Type ANY finds one RRset (RFC 8482 section 4.1).  The SOA of a zones entry
 * is not in the table; answer.c writes it.
 */
void lookup_gather(struct lookup *lookup, const struct table *table,
    const struct question *question);

/*
 * Instead of what lookup_gather() has found: the count sets of records at rrsets,
 * all of the type asked for, or one CNAME, which is followed inside the table.  At
 * most LOOKUP_MAX_CHAIN + 1 are taken.  Borrows the sets' data.
 */
void lookup_fixed(struct lookup *lookup, const struct question *question,
    const struct rrset *rrsets, size_t count);

/*
 * The same with a CNAME from the question's name to the one that consists of it
 * and of "end"; no records if that would be longer than 255 octets.
 */
void lookup_below(struct lookup *lookup, const struct question *question,
    const struct dns_name *end, uint32_t ttl);

/*
 * Instead of what lookup_gather() has found: what the table has under another
 * name, the search list aside.  entry.kind is ENTRY_NONE if it lacks that name.
 */
void lookup_other(struct lookup *lookup, const struct question *question,
    const struct dns_name *name);

/*
 * The node of a host that rdata names, in at most "size" octets; 0 if the table
 * does not have it.  The search list is not applied.
 */
uint32_t lookup_target(
    const struct table *table, const uint8_t *name, size_t size);

#endif
