/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/lookup.h"

#include <string.h>

#include "resolver/dns/rr.h"

bool
lookup_read_target(struct dns_name *target, const struct rrset *cname)
{
	const uint8_t *rdata = cname->rdata;
	size_t length = cname->rdlength;

	if (length == 0) {
		length = (size_t)rdata[0] << 8 | rdata[1];
		rdata += 2;
	}
	return name_read_lower(target, rdata, length) == 0;
}

static bool
is_search(const struct entry *entry)
{
	return entry->kind == ENTRY_SEARCH ||
	    entry->kind == ENTRY_SEARCH_WILDCARD;
}

static uint32_t
find_host(const struct table *table, const struct dns_name *name)
{
	struct entry entry;

	table_find(table, name, &entry);
	return entry.kind == ENTRY_EXACT || entry.kind == ENTRY_WILDCARD ?
	    entry.node : 0;
}

uint32_t
lookup_follow(const struct table *table, const struct rrset *cname,
    struct dns_name *target)
{
	return lookup_read_target(target, cname) ? find_host(table, target) : 0;
}

/* The node's RRset that answers the type by itself. */
static bool
find_type(const struct table *table, uint32_t node, uint16_t type,
    struct rrset *rrset)
{
	if (type == TYPE_ANY)
		return table_rrset_at(table, node, 0, rrset);
	return table_rrset(table, node, type, rrset);
}

uint32_t
lookup_target(const struct table *table, const uint8_t *octets, size_t size)
{
	struct dns_name name;

	return name_read_lower(&name, octets, size) == 0 ?
	    find_host(table, &name) : 0;
}

/*
 * Notes a target without a node.  If its zones entry has unknown = "nxdomain",
 * that is the answer's code: RFC 6604 section 3, the last name of the chain.
 */
static void
note_outside(struct lookup *lookup, const struct entry *target)
{
	if (!target->in_zone || target->unknown != ZONE_NXDOMAIN ||
	    is_search(target)) {
		lookup->leaves_table = true;
		return;
	}
	lookup->target_unknown = target->kind == ENTRY_NONE;
	lookup->target_zone_labels = target->zone_labels;
}

/*
 * Takes the CNAME at the chain's end; *name becomes its target, and *entry what
 * the table has under that name.  False: the chain ends there.
 */
static bool
take_cname(struct lookup *lookup, uint16_t type, struct dns_name *name,
    struct entry *entry)
{
	struct rrset *next = lookup->chain + lookup->chain_length;

	/*
	 * The compiler refuses longer chains, but an image might lie: then
	 * somebody else has to go on.
	 */
	if (lookup->chain_length == LOOKUP_MAX_CHAIN) {
		lookup->leaves_table = true;
		return false;
	}
	lookup->chain_length++;
	if (!lookup_read_target(name, next)) {
		lookup->leaves_table = true;
		return false;
	}
	table_find(lookup->table, name, entry);
	if (entry->node == 0 || is_search(entry)) {
		note_outside(lookup, entry);
		return false;
	}
	if (!find_type(lookup->table, entry->node, type, next + 1))
		return true;
	lookup->has_type = true;
	lookup->chain_length++;
	return false;
}

/* Puts the entry's CNAME, if it has one, at the chain's end. */
static bool
has_cname(struct lookup *lookup, const struct entry *entry)
{
	return table_rrset(lookup->table, entry->node, TYPE_CNAME,
	    &lookup->chain[lookup->chain_length]);
}

/* The CNAMEs from the entry on; *name becomes the last one's target. */
static void
gather_chain(struct lookup *lookup, uint16_t type, struct dns_name *name)
{
	struct entry entry = {.node = lookup->entry.node};

	while (has_cname(lookup, &entry) &&
	    take_cname(lookup, type, name, &entry))
		;
}

/*
 * The SOA for a negative answer.  If a zones entry is closer to the name than
 * the zone file, its SOA is used instead, which answer.c writes.
 */
static void
find_soa(struct lookup *lookup, const struct table *table,
    const struct dns_name *name)
{
	const struct entry *entry = &lookup->entry;

	lookup->has_soa =
	    table_soa(table, name, &lookup->soa, &lookup->soa_labels) &&
	    (lookup->chain_length > 0 || !entry->in_zone ||
		lookup->soa_labels >= entry->zone_labels);
}

/*
 * Collects CNAMEs and the SOA if the name has no records of the type.  Not
 * inlined: most questions do not need it, and it uses stack for a name.
 */
static void __attribute__((noinline)) gather_instead(struct lookup *lookup,
    const struct table *table, const struct question *question)
{
	struct dns_name name;

	gather_chain(lookup, question->type, &name);
	if (lookup->has_type || lookup->leaves_table)
		return;
	/* A search name's chain is not in the negative answer. */
	find_soa(lookup, table,
	    lookup->chain_length > 0 && lookup->entry.kind != ENTRY_SEARCH
		? &name
		: &question->name);
}

void
lookup_gather(struct lookup *lookup, const struct table *table,
    const struct question *question)
{
	struct entry *entry = &lookup->entry;

	lookup->table = table;
	table_find(table, &question->name, entry);
	lookup->chain_length = 0;
	lookup->has_type = false;
	lookup->leaves_table = false;
	lookup->target_unknown = false;
	lookup->has_soa = false;
	/* The table has nothing about the name: it passes. */
	if (entry->kind == ENTRY_NONE && (!entry->in_zone ||
	    entry->unknown != ZONE_NXDOMAIN))
		return;
	lookup->has_type = find_type(table, entry->node, question->type,
	    lookup->chain);
	if (lookup->has_type)
		lookup->chain_length = 1;
	else
		gather_instead(lookup, table, question);
}

/* No records, and nothing known of the name but the zones entry it lies in. */
static void
forget(struct lookup *lookup)
{
	lookup->entry.kind = ENTRY_NONE;
	lookup->entry.flags = 0;
	lookup->entry.node = 0;
	lookup->chain_length = 0;
	lookup->has_type = false;
	lookup->leaves_table = false;
	lookup->target_unknown = false;
	lookup->has_soa = false;
}

void
lookup_fixed(struct lookup *lookup, const struct question *question,
    const struct rrset *rrsets, size_t count)
{
	const uint16_t type = question->type;
	struct dns_name name;
	struct entry entry;

	forget(lookup);
	if (count == 0)
		return;
	if (count > LOOKUP_MAX_CHAIN + 1)
		count = LOOKUP_MAX_CHAIN + 1;
	memcpy(lookup->chain, rrsets, count * sizeof(*rrsets));
	lookup->has_type = rrsets->type == type || type == TYPE_ANY;
	if (lookup->has_type)
		lookup->chain_length = count;
	else
		while (take_cname(lookup, type, &name, &entry) &&
		    has_cname(lookup, &entry))
			;
}

void
lookup_below(struct lookup *lookup, const struct question *question,
    const struct dns_name *end, uint32_t ttl)
{
	const struct rrset cname = { .type = TYPE_CNAME, .count = 1,
		.ttl = ttl, .rdata = lookup->target };
	struct dns_name target;

	if (name_join(&target, &question->name, end) != 0) {
		forget(lookup);
		return;
	}
	lookup->target[0] = 0;
	lookup->target[1] = target.length;
	memcpy(lookup->target + 2, target.octets, target.length);
	/* A client that mixes the case finds its own octets again. */
	memcpy(lookup->target + 2, question->wire, question->name.length - 1u);
	lookup_fixed(lookup, question, &cname, 1);
}

void
lookup_other(struct lookup *lookup, const struct question *question,
    const struct dns_name *name)
{
	struct question other = *question;

	other.name = *name;
	lookup_gather(lookup, lookup->table, &other);
	if (is_search(&lookup->entry))
		forget(lookup);
	/* The SOA of a negative answer would be of the other name. */
	lookup->entry.in_zone = false;
	if (lookup->chain_length == 0)
		lookup->has_soa = false;
}
