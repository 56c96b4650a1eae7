/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in the image.  The order in which a name is looked for stands in
 * table_find(); each step is a few probes, whatever the number of names.
 */
#include "resolver/table.h"

#include <string.h>

#include "resolver/dashed.h"
#include "resolver/rr.h"
#include "resolver/table_state.h"

/* About the share of a CPU's second-level cache that a table may hope for. */
#define CACHED_OCTETS	((size_t)1 << 20)

/* A name taken apart: where each label starts, the root's empty one too. */
struct dissected {
	const struct dns_name *name;
	uint8_t starts[NAME_MAX_LABELS + 1];
};

static inline const struct image_node *
node_at(const struct table *t, uint32_t node)
{
	return (const void *)(t->image + node);
}

static inline const uint8_t *
node_name(const struct image_node *node)
{
	return (const uint8_t *)(node + 1);
}

bool
table_is_large(const struct table *t)
{
	return t->size > CACHED_OCTETS;
}

/* Only what stands in the first slot: most names are there. */
void
table_fetch(const struct table *t, const struct dns_name *name,
    enum table_part part)
{
	uint64_t hash = image_hash(name->octets, name->length, 0);
	const struct image_slot *slot =
	    &t->slots[image_hash_slot(hash, t->header->slot_bits)];

	if (part == TABLE_SLOT) {
		__builtin_prefetch(slot);
	} else if (slot->node != 0) {
		__builtin_prefetch(node_at(t, slot->node));
		__builtin_prefetch(t->image + slot->node + 64);
	}
}

/* The node with that name, or 0. */
static uint32_t
find_node(const struct table *t, const uint8_t *octets, size_t length,
    uint8_t wildcard)
{
	uint64_t hash = image_hash(octets, length, wildcard);
	uint32_t tag = image_hash_tag(hash);
	uint32_t at = image_hash_slot(hash, t->header->slot_bits);

	/* There is an empty slot: the loop ends. */
	for (;; at = (at + 1) & t->mask) {
		const struct image_slot *slot = &t->slots[at];
		const struct image_node *node;

		if (slot->node == 0)
			return 0;
		if (slot->tag != tag)
			continue;
		node = node_at(t, slot->node);
		/* Its records begin about there; fetch both lines at once. */
		__builtin_prefetch((const uint8_t *)node + 64);
		if (node->length == length &&
		    (node->flags & IMAGE_WILDCARD) == wildcard &&
		    memcmp(node_name(node), octets, length) == 0)
			return slot->node;
	}
}

/*
 * Whether a wildcard that takes "front" labels of a name is none for it: a
 * name of the table is closer (RFC 4592 section 3.3.1).  Only zone files have
 * such wildcards; others match at any depth.
 */
static bool
is_closed(const struct table *t, uint32_t wildcard, const uint8_t *octets,
    unsigned int front, const uint8_t *starts, size_t length)
{
	if ((node_at(t, wildcard)->flags & NAME_CLOSEST) == 0)
		return false;
	while (front-- > 0) {
		if (find_node(t, octets + starts[front],
		    length - starts[front], 0) != 0)
			return true;
	}
	return false;
}

/*
 * Whether a wildcard that takes "front" labels of a name is none for it, since
 * it is only for a label that is an address.
 */
static bool
is_no_address(const struct table *t, uint32_t wildcard, const uint8_t *octets,
    unsigned int front)
{
	uint8_t address[16];

	return (node_at(t, wildcard)->flags & NAME_DASHED) != 0 &&
	    (front != 1 || dashed_to_address(octets, address) == 0);
}

/*
 * The most specific wildcard above a name of that many labels; starts says
 * where they begin, starts[labels] is the root's.
 */
static uint32_t
find_wildcard(const struct table *t, const uint8_t *octets,
    unsigned int labels, const uint8_t *starts)
{
	size_t length = starts[labels] + 1u;

	for (unsigned int above = labels; above-- > 0;) {
		size_t start = starts[labels - above];
		uint32_t node;

		if ((t->header->wildcard_labels[above / 64] >> above % 64 &
		    1) == 0)
			continue;
		node = find_node(t, octets + start, length - start,
		    IMAGE_WILDCARD);
		if (node != 0 && !is_closed(t, node, octets, labels - above,
		    starts, length) &&
		    !is_no_address(t, node, octets, labels - above))
			return node;
	}
	return 0;
}

static void
dissect(struct dissected *d, const struct dns_name *name)
{
	unsigned int label = 0;
	size_t at = 0;

	d->name = name;
	for (; label < name->labels; label++) {
		d->starts[label] = (uint8_t)at;
		at += 1u + name->octets[at];
	}
	d->starts[label] = (uint8_t)at;
}

/*
 * Whether the labels from "first" up to "last" are those of suffix, whose
 * root label does not count.
 */
static bool
labels_equal(const struct dissected *d, unsigned int first, unsigned int last,
    const struct dns_name *suffix)
{
	size_t length = (size_t)d->starts[last] - d->starts[first];

	return length + 1 == suffix->length && memcmp(d->name->octets +
	    d->starts[first], suffix->octets, length) == 0;
}

static void
find_zone(const struct table *t, const struct dissected *d,
    struct entry *entry)
{
	unsigned int labels = d->name->labels;

	for (size_t i = 0; i < t->zone_count; i++) {
		const struct mesh_zone *zone = &t->zones[i];

		if (zone->name.labels > labels || !labels_equal(d,
		    labels - zone->name.labels, labels, &zone->name))
			continue;
		entry->in_zone = true;
		entry->unknown = zone->unknown;
		entry->zone_labels = zone->name.labels;
		return;
	}
}

static void
found(const struct table *t, struct entry *entry, enum entry_kind kind,
    uint32_t node)
{
	entry->kind = kind;
	entry->node = node;
	entry->flags = node_at(t, node)->flags & (uint8_t)~IMAGE_WILDCARD;
}

/* NAME, the first "labels" of the name asked for, as if it stood alone. */
static bool
find_target(const struct table *t, const struct dissected *d,
    unsigned int labels, bool shorter, struct entry *entry)
{
	uint8_t octets[NAME_MAX_OCTETS];
	size_t length = d->starts[labels];
	uint32_t node;
	bool exact;

	memcpy(octets, d->name->octets, length);
	octets[length] = 0;
	entry->target_length = (uint8_t)length;
	node = find_node(t, octets, length + 1, 0);
	exact = node != 0 && node_at(t, node)->set != 0;
	if (exact && shorter == ((node_at(t, node)->flags & NAME_SHORT) != 0)) {
		found(t, entry, ENTRY_SEARCH, node);
		return true;
	}
	node = t->wildcards && !exact && !shorter ?
	    find_wildcard(t, octets, labels, d->starts) : 0;
	if (node != 0) {
		found(t, entry, ENTRY_SEARCH_WILDCARD, node);
		return true;
	}
	entry->target_length = 0;
	return false;
}

/*
 * NAME with an element of the list from "next" on behind it: where the client's
 * resolver would come to by itself, one question after the other.
 */
static bool
find_further(const struct table *t, const struct dissected *d,
    unsigned int labels, size_t next, struct entry *entry)
{
	uint8_t octets[NAME_MAX_OCTETS];
	size_t length = d->starts[labels];

	memcpy(octets, d->name->octets, length);
	for (; next < t->search_count; next++) {
		const struct dns_name *search = &t->search[next];
		uint32_t node;

		if (length + search->length > NAME_MAX_OCTETS)
			continue;
		memcpy(octets + length, search->octets, search->length);
		node = find_node(t, octets, length + search->length, 0);
		if (node == 0 || node_at(t, node)->set == 0)
			continue;
		found(t, entry, ENTRY_SEARCH, node);
		entry->target_length = (uint8_t)length;
		entry->target_search = search;
		return true;
	}
	return false;
}

/*
 * Which form of the target is looked for: the name itself comes first, unless
 * it is a NAME_SHORT, whose whole name lies further down the list.
 */
enum search_pass { SEARCH_NAME, SEARCH_FURTHER, SEARCH_SHORT, SEARCH_PASSES };

static bool
find_search(const struct table *t, const struct dissected *d,
    enum search_pass pass, struct entry *entry)
{
	for (size_t i = 0; i < t->search_count; i++) {
		const struct dns_name *search = &t->search[i];
		unsigned int labels = d->name->labels, target;

		if (search->labels == 0 || search->labels >= labels)
			continue;
		target = labels - search->labels;
		if (!labels_equal(d, target, labels, search))
			continue;
		/*
		 * NAME in the search domain already: a resolver that appends
		 * the domain to it again is at the end of its list and would
		 * get NXDOMAIN from any cluster's DNS.
		 */
		if (target >= search->labels && labels_equal(d,
		    target - search->labels, target, search))
			continue;
		if (pass == SEARCH_FURTHER ?
		    find_further(t, d, target, i + 1, entry) :
		    find_target(t, d, target, pass == SEARCH_SHORT, entry))
			return true;
	}
	return false;
}

void
table_find(const struct table *t, const struct dns_name *name,
    struct entry *entry)
{
	uint32_t exact = find_node(t, name->octets, name->length, 0);
	struct dissected d;
	uint32_t node;

	*entry = (struct entry){ .kind = ENTRY_NONE };
	dissect(&d, name);
	find_zone(t, &d, entry);

	if (exact != 0 && node_at(t, exact)->set != 0) {
		found(t, entry, ENTRY_EXACT, exact);
		return;
	}
	node = t->wildcards ?
	    find_wildcard(t, name->octets, name->labels, d.starts) : 0;
	if (node != 0) {
		found(t, entry, ENTRY_WILDCARD, node);
		return;
	}
	for (int pass = 0; pass < SEARCH_PASSES; pass++) {
		if (find_search(t, &d, (enum search_pass)pass, entry))
			return;
	}
	if (exact != 0)
		entry->kind = ENTRY_EMPTY;
}

static void
view(struct rrset *rrset, const struct image_rrset *head)
{
	rrset->type = head->type;
	rrset->count = head->count;
	rrset->rdlength = head->rdlength;
	rrset->ttl = head->ttl;
	rrset->rdata = (const uint8_t *)(head + 1);
}

/* The node's first RRset and their number, or NULL and 0. */
static const struct image_rrset *
first_rrset(const struct table *t, uint32_t node, uint32_t *count)
{
	uint32_t offset = node != 0 ? node_at(t, node)->set : 0;
	const struct image_set *set;

	*count = 0;
	if (offset == 0)
		return NULL;
	set = (const void *)(t->image + offset);
	*count = set->count;
	return (const void *)(set + 1);
}

static const struct image_rrset *
next_rrset(const struct image_rrset *rrset)
{
	return (const void *)((const uint8_t *)(rrset + 1) +
	    image_pad4(rrset->size));
}

bool
table_rrset(const struct table *t, uint32_t node, uint16_t type,
    struct rrset *rrset)
{
	uint32_t count;
	const struct image_rrset *r = first_rrset(t, node, &count);

	for (; count > 0; count--, r = next_rrset(r)) {
		if (r->type == type) {
			view(rrset, r);
			return true;
		}
	}
	return false;
}

bool
table_rrset_at(const struct table *t, uint32_t node, size_t index,
    struct rrset *rrset)
{
	uint32_t count;
	const struct image_rrset *r = first_rrset(t, node, &count);

	if (r == NULL || index >= count)
		return false;
	for (; index > 0; index--)
		r = next_rrset(r);
	view(rrset, r);
	return true;
}

bool
table_soa(const struct table *t, const struct dns_name *name,
    struct rrset *soa, uint8_t *labels)
{
	const uint64_t *there = t->header->soa_labels;

	if ((there[0] | there[1]) == 0)
		return false;
	for (unsigned int n = name->labels + 1u; n-- > 0;) {
		size_t start;

		if ((there[n / 64] >> n % 64 & 1) == 0)
			continue;
		start = name_suffix_offset(name, n);
		*labels = (uint8_t)n;
		if (table_rrset(t, find_node(t, name->octets + start,
		    name->length - start, 0), TYPE_SOA, soa))
			return true;
	}
	return false;
}

void
table_origin(const struct table *t, uint32_t node, unsigned int *source,
    unsigned int *line)
{
	*source = node != 0 ? node_at(t, node)->source : 0;
	*line = node != 0 ? node_at(t, node)->line : 0;
}

bool
table_next(const struct table *t, size_t *cursor, struct dns_name *name,
    uint32_t *node, uint8_t *flags)
{
	for (; *cursor <= t->mask; (*cursor)++) {
		const struct image_node *n;
		struct dns_name plain;

		*node = t->slots[*cursor].node;
		n = node_at(t, *node);
		if (*node == 0 || n->set == 0)
			continue;
		(void)table_load_name(&plain, node_name(n));
		*name = plain;
		if (n->flags & IMAGE_WILDCARD) {
			memcpy(name->octets, "\1*", 2);
			memcpy(name->octets + 2, plain.octets, plain.length);
			name->length = (uint8_t)(plain.length + 2);
			name->labels = (uint8_t)(plain.labels + 1);
		}
		*flags = n->flags & (uint8_t)~IMAGE_WILDCARD;
		(*cursor)++;
		return true;
	}
	return false;
}

const char *
table_source(const struct table *t, unsigned int source, size_t *length)
{
	const uint8_t *at = t->image + t->header->strings;
	struct dns_name name;
	uint16_t n;

	*length = 0;
	if (source >= t->header->source_count)
		return NULL;
	for (size_t i = 0; i < t->search_count; i++)
		at = table_load_name(&name, at);
	for (size_t i = 0; i < t->zone_count; i++)
		at = table_load_name(&name, at + 1);
	for (;; at += sizeof(n) + n) {
		memcpy(&n, at, sizeof(n));
		if (source-- == 0)
			break;
	}
	*length = n;
	return (const char *)at + sizeof(n);
}
