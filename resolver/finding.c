/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/finding.h"

#include "resolver/dashed.h"
#include "resolver/rr.h"

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

/* The RRset of a dashed name: the table has its TTL, the name its address. */
static bool
find_dashed(struct finding *finding, const struct table *table,
    const struct question *question, struct rrset *rrset)
{
	uint8_t length = dashed_to_address(question->name.octets,
	    finding->dashed);
	uint16_t type = length == 4 ? TYPE_A : TYPE_AAAA;

	if ((question->type != type && question->type != TYPE_ANY) ||
	    !table_rrset(table, finding->entry.node, type, rrset))
		return false;
	rrset->count = 1;
	rrset->rdata = finding->dashed;
	return true;
}

/* The CNAMEs from node on; *name becomes the one that the last leads to. */
static void
gather_chain(struct finding *finding, const struct table *table,
    uint16_t type, struct dns_name *name)
{
	uint32_t node = finding->entry.node;
	struct rrset *next = finding->chain;

	while (node != 0 && table_rrset(table, node, TYPE_CNAME, next)) {
		/*
		 * The compiler refuses longer chains, but an image might lie:
		 * there the client's resolver goes on by itself, too.
		 */
		node = next < finding->chain + FINDING_MAX_CHAIN ?
		    finding_follow(table, next++, name) : 0;
		finding->leaves_table = node == 0;
		if (node != 0 && find_type(table, node, type, next)) {
			finding->has_type = true;
			next++;
			break;
		}
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
		gather_chain(finding, table, question->type, &name);
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
	finding->has_soa = false;
	if (is_foreign(entry))
		return;
	finding->has_type = entry->flags & NAME_DASHED ?
	    find_dashed(finding, table, question, finding->chain) :
	    find_type(table, entry->node, question->type, finding->chain);
	if (finding->has_type)
		finding->chain_length = 1;
	else
		gather_instead(finding, table, question);
}
