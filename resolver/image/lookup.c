/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/lookup.h"

#include "resolver/image/dashed.h"
#include "resolver/dns/rr.h"

/* The one target of a CNAME RRset, lower-cased. */
static bool
read_target(struct dns_name *target, const struct rrset *cname)
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
	/* What a dashed name has stands in the question, not in the table. */
	return (entry.kind == ENTRY_EXACT || entry.kind == ENTRY_WILDCARD) &&
	    (entry.flags & NAME_DASHED) == 0 ? entry.node : 0;
}

uint32_t
finding_follow(const struct table *table, const struct rrset *cname,
    struct dns_name *target)
{
	return read_target(target, cname) ? find_host(table, target) : 0;
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
finding_target(const struct table *table, const uint8_t *octets, size_t size)
{
	struct dns_name name;

	return name_read_lower(&name, octets, size) == 0 ?
	    find_host(table, &name) : 0;
}

/*
 * The RRset of a dashed name, whose node has the TTL: the name itself is the
 * address.
 */
static bool
find_dashed(struct finding *finding, const struct dns_name *name,
    uint32_t node, uint16_t asked, struct rrset *rrset)
{
	uint8_t length = dashed_to_address(name->octets, finding->dashed);
	uint16_t type = length == 4 ? TYPE_A : TYPE_AAAA;

	if ((asked != type && asked != TYPE_ANY) ||
	    !table_rrset(finding->table, node, type, rrset))
		return false;
	rrset->count = 1;
	rrset->rdata = finding->dashed;
	return true;
}

/*
 * Records of the type asked for, of an entry that has a node.  Inline: every
 * question for a name of the table goes through it.
 */
static inline bool __attribute__((always_inline))
find_records(struct finding *finding, const struct dns_name *name,
    const struct entry *entry, uint16_t type, struct rrset *rrset)
{
	return entry->flags & NAME_DASHED ?
	    find_dashed(finding, name, entry->node, type, rrset) :
	    find_type(finding->table, entry->node, type, rrset);
}

/*
 * What becomes of a target that has no node.  Where a zone denies it, so do we:
 * RFC 6604 section 3 has the code of the last name in the chain.
 */
static void
note_outside(struct finding *finding, const struct entry *target)
{
	if (!target->in_zone || target->unknown != ZONE_NXDOMAIN ||
	    is_search(target)) {
		finding->leaves_table = true;
		return;
	}
	finding->target_unknown = target->kind == ENTRY_NONE;
	finding->target_zone_labels = target->zone_labels;
}

/* The CNAMEs from the entry on; *name becomes what the last one leads to. */
static void
gather_chain(struct finding *finding, uint16_t type, struct dns_name *name)
{
	struct entry entry = { .node = finding->entry.node };
	struct rrset *next = finding->chain;

	while (table_rrset(finding->table, entry.node, TYPE_CNAME, next)) {
		/*
		 * The compiler refuses longer chains, but an image might lie:
		 * then somebody else has to go on.
		 */
		if (next == finding->chain + FINDING_MAX_CHAIN ||
		    !read_target(name, next++)) {
			finding->leaves_table = true;
			break;
		}
		table_find(finding->table, name, &entry);
		if (entry.node == 0 || is_search(&entry)) {
			note_outside(finding, &entry);
			break;
		}
		if (find_records(finding, name, &entry, type, next)) {
			finding->has_type = true;
			next++;
			break;
		}
		if (entry.flags & NAME_DASHED)
			break;
	}
	finding->chain_length = (size_t)(next - finding->chain);
}

/*
 * The SOA that says how long the lack of data may be remembered.  A zones entry
 * that is closer than the zone file has its own.
 */
static void
find_soa(struct finding *finding, const struct table *table,
    const struct dns_name *name)
{
	const struct entry *entry = &finding->entry;

	finding->has_soa = table_soa(table, name, &finding->soa,
	    &finding->soa_labels) && (finding->chain_length > 0 ||
	    !entry->in_zone || finding->soa_labels >= entry->zone_labels);
}

/*
 * What there is in place of records of that name and type.  Not inlined: most
 * questions need none of it, and it takes room for a name.
 */
static void __attribute__((noinline))
gather_instead(struct finding *finding, const struct table *table,
    const struct question *question)
{
	struct dns_name name;

	if ((finding->entry.flags & NAME_DASHED) == 0)
		gather_chain(finding, question->type, &name);
	if (finding->has_type || finding->leaves_table)
		return;
	/* A search name's chain is not in the negative answer. */
	find_soa(finding, table, finding->chain_length > 0 &&
	    finding->entry.kind != ENTRY_SEARCH ? &name : &question->name);
}

/* Whether nothing in the table speaks for or against the name: it passes. */
static bool
is_foreign(const struct entry *entry)
{
	return entry->kind == ENTRY_NONE &&
	    (!entry->in_zone || entry->unknown != ZONE_NXDOMAIN);
}

void
finding_gather(struct finding *finding, const struct table *table,
    const struct question *question)
{
	struct entry *entry = &finding->entry;

	finding->table = table;
	table_find(table, &question->name, entry);
	finding->chain_length = 0;
	finding->has_type = false;
	finding->leaves_table = false;
	finding->target_unknown = false;
	finding->has_soa = false;
	if (is_foreign(entry))
		return;
	finding->has_type = find_records(finding, &question->name, entry,
	    question->type, finding->chain);
	if (finding->has_type)
		finding->chain_length = 1;
	else
		gather_instead(finding, table, question);
}
