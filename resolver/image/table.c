/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in the image.  table_find() has the order in which a name is looked
 * up; each step takes a few probes, whatever the number of names.
 */
#include "resolver/image/table.h"

#include <string.h>

#include "resolver/image/image.h"
#include "resolver/dns/rr.h"

/* The names that others of the table are short for. */

_Static_assert(TABLE_ALIASES == 1 + IMAGE_ORIGINS, "of an alias of those");

/* The node that a set follows. */
static const struct image_node *
owner_of(const struct table *t, uint32_t set)
{
	const struct image_set *s = (const void *)(t->image + set);

	return (const void *)((const uint8_t *)s - (size_t)4 * s->back);
}

bool
table_is_alias(const struct table *t, uint32_t node)
{
	const uint32_t set = table_node(t, node)->set;
	const struct image_set *s = (const void *)(t->image + set);

	return set != node + 4u * s->back || s->origins != 0;
}

unsigned int
table_labels(const struct table *t, uint32_t node)
{
	struct dns_name name;

	(void)table_load_name(&name, table_node_name(table_node(t, node)));
	return name.labels;
}

bool
table_alias(const struct table *t, uint32_t node, unsigned int index,
    struct dns_name *name, bool *wildcard)
{
	const struct image_node *n = table_node(t, node), *owner;
	const uint32_t *origins;
	unsigned int count;

	owner = owner_of(t, n->set);
	if (owner == n || index > 0) {
		origins = image_origins(t->image, n->set, &count);
		if (owner != n)
			index--;
		if (index >= count)
			return false;
		owner = owner_of(t, origins[index]);
	}
	(void)table_load_name(name, table_node_name(owner));
	*wildcard = (owner->flags & IMAGE_WILDCARD) != 0;
	return true;
}

/* About the part of a CPU's second-level cache that a table can use. */
#define CACHED_OCTETS	((size_t)1 << 20)

bool
table_is_large(const struct table *t)
{
	return t->size > CACHED_OCTETS;
}

/* Looks only at the first slot, where most names are. */
void
table_fetch(const struct table *t, const struct dns_name *name,
    enum table_part part)
{
	uint64_t hash = image_hash(name->octets, name->length, 0);
	const struct image_slot *slot =
	    &t->slots[image_hash_slot(hash, t->mask)];

	if (part == TABLE_SLOT) {
		__builtin_prefetch(slot);
	} else if (slot->node != 0) {
		__builtin_prefetch(table_node(t, slot->node));
		__builtin_prefetch(t->image + slot->node + 64);
	}
}

/* The node with that name, or 0.  Inlined for the question's name. */
static inline __attribute__((always_inline)) uint32_t
probe(const struct table *t, const uint8_t *octets, size_t length,
    uint8_t wildcard)
{
	uint64_t hash = image_hash(octets, length, wildcard);
	uint32_t tag = image_hash_tag(hash);
	uint32_t at = image_hash_slot(hash, t->mask);

	/* There is an empty slot: the loop ends. */
	for (;; at = (at + 1) & t->mask) {
		const struct image_slot *slot = &t->slots[at];
		const struct image_node *node;

		if (slot->node == 0)
			return 0;
		if (slot->tag != tag)
			continue;
		node = table_node(t, slot->node);
		/* Its records begin about there; fetch both lines at once. */
		__builtin_prefetch((const uint8_t *)node + 64);
		if (node->length == length &&
		    (node->flags & IMAGE_WILDCARD) == wildcard &&
		    memcmp(table_node_name(node), octets, length) == 0)
			return slot->node;
	}
}

/* Which names of the table have that tail: IMAGE_TAIL_*, or 0. */
static inline unsigned int
find_tail(const struct table *t, uint32_t tail)
{
	return t->tails[image_tail_word(tail, t->tail_mask)] >>
	    image_tail_shift(tail) & 3;
}

/* Whether some name of the table may have that head. */
static inline bool
has_head(const struct table *t, uint64_t head)
{
	return t->heads[image_head_word(head, t->head_mask)] >>
	    image_head_bit(head) & 1;
}

static uint32_t __attribute__((noinline))
find_node(const struct table *t, const uint8_t *octets, size_t length,
    uint8_t wildcard)
{
	return probe(t, octets, length, wildcard);
}

/*
 * Whether a name of the table is closer than a wildcard that takes "front"
 * labels (RFC 4592 section 3.3.1).  This matters only for wildcards of zone
 * files; others match at any depth.
 */
static bool
is_closed(const struct table *t, const uint8_t *octets, size_t length,
    unsigned int front)
{
	for (size_t start = 0; front > 0; front--) {
		if (find_node(t, octets + start, length - start, 0) != 0)
			return true;
		start += 1u + octets[start];
	}
	return false;
}

/* The most specific wildcard above a name of that many labels. */
static uint32_t
find_wildcard(const struct table *t, const uint8_t *octets, size_t length,
    unsigned int labels)
{
	const struct table_depths *above = &t->wildcards;
	unsigned int front = 0;
	size_t start = 0;

	for (size_t i = 0; i < above->count; i++) {
		uint32_t node;

		if (above->labels[i] >= labels)
			continue;
		for (; front < labels - above->labels[i]; front++)
			start += 1u + octets[start];
		node = find_node(t, octets + start, length - start,
		    IMAGE_WILDCARD);
		if (node == 0)
			continue;
		if (!(table_node(t, node)->flags & NAME_CLOSEST) ||
		    !is_closed(t, octets, length, front))
			return node;
	}
	return 0;
}

/* What most names that are not below it fail, at no call's cost. */
static inline bool
may_be_within(const struct dns_name *name, const struct dns_name *zone)
{
	return zone->length <= name->length && name->octets[name->length -
	    zone->length] == zone->octets[0];
}

static void
find_zone(const struct table *t, const struct dns_name *name,
    struct entry *entry)
{
	for (size_t i = 0; i < t->zone_count; i++) {
		const struct mesh_zone *zone = &t->zones[i];

		if (!may_be_within(name, &zone->name) ||
		    !name_is_within(name, &zone->name))
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
	entry->flags = table_node(t, node)->flags & (uint8_t)~IMAGE_WILDCARD;
}

/*
 * NAME, which stands before that element of the list, with the root behind it;
 * returns its length.
 */
static size_t
cut(uint8_t octets[static NAME_MAX_OCTETS], const struct dns_name *name,
    const struct dns_name *search)
{
	size_t length = (size_t)name->length - search->length;

	memcpy(octets, name->octets, length);
	octets[length] = 0;
	return length + 1;
}

/* NAME as if it stood alone. */
static bool
find_target(const struct table *t, const struct dns_name *name,
    const struct dns_name *search, bool shorter, struct entry *entry)
{
	uint8_t octets[NAME_MAX_OCTETS];
	size_t length = cut(octets, name, search);
	uint32_t node = find_node(t, octets, length, 0);
	bool exact = node != 0 && table_node(t, node)->set != 0;

	entry->target_length = (uint8_t)(length - 1);
	if (exact && shorter == ((table_node(t, node)->flags & NAME_SHORT) != 0)) {
		found(t, entry, ENTRY_SEARCH, node);
		return true;
	}
	node = !exact && !shorter && find_tail(t, image_tail(octets, length)) &
	    IMAGE_TAIL_WILDCARD ? find_wildcard(t, octets, length,
	    (unsigned int)name->labels - search->labels) : 0;
	if (node != 0) {
		found(t, entry, ENTRY_SEARCH_WILDCARD, node);
		return true;
	}
	entry->target_length = 0;
	return false;
}

/*
 * NAME followed by a later element of the list: the client's resolver would get
 * there by itself, one question after the other.
 */
static bool
find_further(const struct table *t, const struct dns_name *name,
    const struct dns_name *search, struct entry *entry)
{
	uint8_t octets[NAME_MAX_OCTETS];
	size_t length = (size_t)name->length - search->length;

	memcpy(octets, name->octets, length);
	while (++search < t->search + t->search_count) {
		uint32_t node;

		if (length + search->length > NAME_MAX_OCTETS)
			continue;
		memcpy(octets + length, search->octets, search->length);
		node = find_node(t, octets, length + search->length, 0);
		if (node == 0 || table_node(t, node)->set == 0)
			continue;
		found(t, entry, ENTRY_SEARCH, node);
		entry->target_length = (uint8_t)length;
		entry->target_search = search;
		return true;
	}
	return false;
}

/*
 * Whether a name is NAME.SEARCH.SEARCH: a resolver that appends the domain
 * again is at the end of its list, and any cluster's DNS would answer NXDOMAIN.
 */
static bool
is_twice(const struct dns_name *name, const struct dns_name *search)
{
	unsigned int labels = 2u * search->labels;
	size_t length = search->length - 1u, start;

	if (labels > name->labels)
		return false;
	start = name_suffix_offset(name, labels);
	return name->length - start == 2 * length + 1 &&
	    memcmp(name->octets + start, search->octets, length) == 0;
}

/* Whether NAME stands before that element of the search list. */
static bool
is_behind(const struct dns_name *name, const struct dns_name *search)
{
	return search->labels > 0 && search->length < name->length &&
	    may_be_within(name, search) && name_is_within(name, search) &&
	    !is_twice(name, search);
}

/*
 * The elements of the search list, with at least so many labels, that a name
 * ends with, a bit for each; none for most names outside the table.
 */
static uint32_t
search_behind(const struct table *t, const struct dns_name *name,
    unsigned int labels)
{
	uint32_t elements = 0;

	_Static_assert(MESH_MAX_SEARCH <= 32, "an element has no bit");
	for (size_t i = 0; i < t->search_count; i++) {
		if (t->search[i].labels >= labels &&
		    is_behind(name, &t->search[i]))
			elements |= (uint32_t)1 << i;
	}
	return elements;
}

/*
 * Which form of the target is looked for: the name itself comes first, unless
 * it is a NAME_SHORT, whose whole name lies further down the list.
 */
enum search_pass { SEARCH_NAME, SEARCH_FURTHER, SEARCH_SHORT, SEARCH_PASSES };

/* What stands before those elements, the first of them first. */
static bool
find_before(const struct table *t, const struct dns_name *name,
    uint32_t elements, enum search_pass pass, struct entry *entry)
{
	for (; elements != 0; elements &= elements - 1) {
		const struct dns_name *search =
		    &t->search[__builtin_ctz(elements)];

		if (pass == SEARCH_FURTHER ?
		    find_further(t, name, search, entry) :
		    find_target(t, name, search, pass == SEARCH_SHORT, entry))
			return true;
	}
	return false;
}

/* Not inlined: few names get here, and its buffers are large. */
static bool __attribute__((noinline))
find_search(const struct table *t, const struct dns_name *name,
    uint32_t elements, struct entry *entry)
{
	for (int pass = 0; pass < SEARCH_PASSES; pass++) {
		if (find_before(t, name, elements, (enum search_pass)pass,
		    entry))
			return true;
	}
	return false;
}

/*
 * The same if no name of the table has the first label, so that only wildcards
 * are left; the tail of NAME rules out most of these.
 */
static bool
find_search_wildcard(const struct table *t, const struct dns_name *name,
    struct entry *entry)
{
	for (size_t i = 0; i < t->search_count; i++) {
		const struct dns_name *search = &t->search[i];

		if (search->length < name->length &&
		    may_be_within(name, search) &&
		    find_tail(t, image_tail_before(name->octets, (size_t)
		    name->length - search->length)) & IMAGE_TAIL_WILDCARD &&
		    is_behind(name, search) &&
		    find_target(t, name, search, false, entry))
			return true;
	}
	return false;
}

/*
 * A name without records of its own, by way of others; "head" says whether
 * some name of the table may have its first label.  Not inlined: it would need
 * registers that names with records then save.
 */
static bool __attribute__((noinline))
find_other(const struct table *t, const struct dns_name *name,
    unsigned int tail, bool head, struct entry *entry)
{
	uint32_t node = tail & IMAGE_TAIL_WILDCARD ? find_wildcard(t,
	    name->octets, name->length, name->labels) : 0, elements;
	unsigned int least = 0;

	if (node != 0) {
		found(t, entry, ENTRY_WILDCARD, node);
		return true;
	}
	/* No name of the table has both labels: NAME can only be the first. */
	if (head && name->labels >= 2 &&
	    !has_head(t, image_head_of_two(name->octets)))
		least = name->labels - 1u;
	elements = head ? search_behind(t, name, least) : 0;
	/* What other elements find by wildcards may come first. */
	if (elements != 0 && least > 0 && t->wildcards.count > 0)
		elements = search_behind(t, name, 0);
	if (elements != 0)
		return find_search(t, name, elements, entry);
	return t->wildcards.count > 0 && (!head || least > 0) &&
	    find_search_wildcard(t, name, entry);
}

void
table_find(const struct table *t, const struct dns_name *name,
    struct entry *entry)
{
	unsigned int tail = find_tail(t, image_tail(name->octets,
	    name->length));
	uint32_t exact;
	bool head;

	*entry = (struct entry){ .kind = ENTRY_NONE };
	find_zone(t, name, entry);
	if (tail == 0 && !t->short_search)
		return;
	head = has_head(t, image_head(name->octets));
	exact = head ? probe(t, name->octets, name->length, 0) : 0;
	if (exact != 0 && table_node(t, exact)->set != 0)
		found(t, entry, ENTRY_EXACT, exact);
	else if (!find_other(t, name, tail, head, entry) && exact != 0)
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
	uint32_t offset = node != 0 ? table_node(t, node)->set : 0;
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
	for (size_t i = 0; i < t->soas.count; i++) {
		size_t start;

		*labels = t->soas.labels[i];
		if (*labels > name->labels)
			continue;
		start = name_suffix_offset(name, *labels);
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
	*source = node != 0 ? table_node(t, node)->source : 0;
	*line = node != 0 ? table_node(t, node)->line : 0;
}

bool
table_next(const struct table *t, size_t *cursor, struct dns_name *name,
    uint32_t *node, uint8_t *flags)
{
	for (; *cursor <= t->mask; (*cursor)++) {
		const struct image_node *n;
		struct dns_name plain;

		*node = t->slots[*cursor].node;
		n = table_node(t, *node);
		if (*node == 0 || n->set == 0)
			continue;
		(void)table_load_name(&plain, table_node_name(n));
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
