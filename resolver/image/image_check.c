/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks an image; all other code trusts it.  Nodes lie in the order of their
 * slots, so one walk over both sees every octet once.  Only aliases point
 * elsewhere; for them the walk marks in a bitmap where sets begin.
 */
#include "resolver/image/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/mesh.h"
#include "resolver/dns/name.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"

/* With one more, the slots alone would be larger than an image may be. */
#define MAX_SLOT_BITS	28

struct check {
	const uint8_t *image;
	const struct image_header *header;
	uint64_t size;
	uint8_t *sets;		/* one bit for each offset / 4 behind the nodes' start */
	uint32_t names;
	bool aliases;
	bool draft;
};

static const char *
check_header(const struct image_header *h, size_t size)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);
	uint64_t slots;

	if (size < sizeof(*h) || memcmp(h->magic, IMAGE_MAGIC,
	    sizeof(h->magic)) != 0)
		return "not a table image";
	if (h->version != IMAGE_VERSION)
		return "made by another version of this program: compile it again";
	if (h->header_size != sizeof(*h))
		return "header of another size: compile it again";
	if (h->total_size != size || size > IMAGE_MAX_OCTETS)
		return "size differs from the header's: the image was cut or grew";
	if (XXH3_64bits((const uint8_t *)h + unhashed, size - unhashed) !=
	    h->checksum)
		return "checksum differs: the image is damaged";
	if (h->loaded > 1)
		return "loaded flag out of range";
	if (h->search_count > MESH_MAX_SEARCH || h->zone_count > MESH_MAX_ZONES)
		return "too many search domains or zones";
	if (h->slot_bits > MAX_SLOT_BITS)
		return "too many slots";
	slots = (uint64_t)1 << h->slot_bits;
	if (h->node_count >= slots)
		return "more nodes than slots";
	if (h->tail_bits > IMAGE_TAIL_BITS_MAX ||
	    h->head_bits > IMAGE_HEAD_BITS_MAX)
		return "filter too large";
	if (h->strings != sizeof(*h) || h->tails < h->strings ||
	    h->tails % 8 != 0 ||
	    h->heads != h->tails + image_filter_octets(h->tail_bits) ||
	    h->policy != h->heads + image_filter_octets(h->head_bits) ||
	    h->slots != h->policy + image_pad8(h->policy_size) ||
	    h->nodes != h->slots + slots * sizeof(struct image_slot) ||
	    h->nodes > size)
		return "sections out of order";
	return NULL;
}

/* Octets of the wire name at the start of octets, or 0 if it is none. */
static size_t
name_octets(const uint8_t *octets, size_t size)
{
	size_t at = 0;

	if (size > NAME_MAX_OCTETS)
		size = NAME_MAX_OCTETS;
	while (at < size && octets[at] != 0) {
		if (octets[at] > NAME_MAX_LABEL)
			return 0;
		at += 1u + octets[at];
	}
	return at < size ? at + 1 : 0;
}

static const char *
check_strings(const struct check *c)
{
	const struct image_header *h = c->header;
	uint64_t at = h->strings, end = h->tails;

	for (unsigned int i = 0; i < h->search_count; i++) {
		size_t n = name_octets(c->image + at, end - at);

		if (n == 0)
			return "bad name in the search list";
		at += n;
	}
	for (unsigned int i = 0; i < h->zone_count; i++) {
		size_t n;

		if (at >= end || c->image[at] > ZONE_NXDOMAIN)
			return "bad zone";
		n = name_octets(c->image + at + 1, end - at - 1);
		if (n == 0)
			return "bad name of a zone";
		at += 1 + n;
	}
	for (uint32_t i = 0; i < h->source_count; i++) {
		uint16_t n;

		if (end - at < sizeof(n))
			return "source paths cut off";
		memcpy(&n, c->image + at, sizeof(n));
		at += sizeof(n);
		if (end - at < n)
			return "source paths cut off";
		at += n;
	}
	return NULL;
}

/* The records of an RRset, each behind its length. */
static bool
records_valid(const struct image_rrset *rrset, const uint8_t *octets)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < rrset->count; i++) {
		size_t n;

		if (rrset->size - at < 2)
			return false;
		n = (size_t)octets[at] << 8 | octets[at + 1];
		at += 2;
		if (rrset->size - at < n ||
		    !rdata_valid(rrset->type, octets + at, n))
			return false;
		at += n;
	}
	return at == rrset->size;
}

static const char *
check_rrset(const struct check *c, const struct image_rrset *rrset,
    const uint8_t *octets)
{
	if (rrset->count == 0 ||
	    rrset->rdlength != rdata_fixed_length(rrset->type))
		return "bad set of records";
	if (rrset->rdlength != 0 ?
	    (uint64_t)rrset->count * rrset->rdlength != rrset->size :
	    !records_valid(rrset, octets))
		return "bad record data";
	/* What follows a CNAME in an answer belongs to its one target. */
	if (rrset->type == TYPE_CNAME && rrset->count > 1 && !c->draft)
		return "several CNAMEs of one name";
	return NULL;
}

/* Steps over the set at *at, of the node that begins there. */
static const char *
check_set(struct check *c, uint64_t node, uint64_t *at)
{
	uint64_t bit = (*at - c->header->nodes) / 4;
	const struct image_set *set;

	if (c->size - *at < sizeof(*set))
		return "records cut off";
	set = (const void *)(c->image + *at);
	if (set->count == 0)
		return "empty set of records";
	if (node + (size_t)4 * set->back != *at || set->origins > IMAGE_ORIGINS)
		return "set of records of another name";
	c->sets[bit / 8] |= (uint8_t)(1 << bit % 8);
	*at += sizeof(*set);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct image_rrset *rrset;
		const char *why;

		if (c->size - *at < sizeof(*rrset))
			return "records cut off";
		rrset = (const void *)(c->image + *at);
		*at += sizeof(*rrset);
		if (c->size - *at < image_pad4(rrset->size))
			return "record data cut off";
		why = check_rrset(c, rrset, c->image + *at);
		if (why != NULL)
			return why;
		*at += image_pad4(rrset->size);
	}
	if (c->size - *at < set->origins * sizeof(uint32_t))
		return "records cut off";
	*at += set->origins * sizeof(uint32_t);
	c->aliases |= set->origins > 0;
	return NULL;
}

/* Steps over the node at *at and the set behind it. */
static const char *
check_node(struct check *c, uint64_t *at)
{
	const uint64_t begin = *at;
	const struct image_node *node;
	uint64_t end;

	if (c->size - *at < sizeof(*node))
		return "node cut off";
	node = (const void *)(c->image + *at);
	end = image_pad4(*at + sizeof(*node) + node->length);
	if (end > c->size)
		return "name cut off";
	if (name_octets(c->image + *at + sizeof(*node), node->length) !=
	    node->length || node->length == 0)
		return "bad name";
	/* With its "*" it must still be a name. */
	if (node->flags & IMAGE_WILDCARD && (node->set == 0 ||
	    node->length > NAME_MAX_OCTETS - 2))
		return "bad wildcard";
	*at = end;
	if (node->set == 0)
		return NULL;
	c->names++;
	if (node->set == end)
		return check_set(c, begin, at);
	c->aliases = true;
	return NULL;
}

static const char *
check_nodes(struct check *c)
{
	const struct image_header *h = c->header;
	const struct image_slot *slots = (const void *)(c->image + h->slots);
	uint64_t at = h->nodes;
	uint32_t nodes = 0;

	for (size_t i = 0; i >> h->slot_bits == 0; i++) {
		const char *why;

		if (slots[i].node == 0)
			continue;
		if (slots[i].node != at || ++nodes > h->node_count)
			return "slot points astray";
		/* Prefetch: waiting for names took half of the walk. */
		__builtin_prefetch(c->image + at + 1024);
		__builtin_prefetch(c->image + at + 1024 + 64);
		why = check_node(c, &at);
		if (why != NULL)
			return why;
	}
	if (at != c->size)
		return "octets behind the last node";
	if (nodes != h->node_count || c->names != h->name_count)
		return "counts differ from the header's";
	return NULL;
}

/* Whether a set begins there. */
static bool
is_set(const struct check *c, uint32_t offset)
{
	const uint64_t bit = ((uint64_t)offset - c->header->nodes) / 4;

	return offset >= c->header->nodes && offset < c->size &&
	    offset % 4 == 0 && (c->sets[bit / 8] & 1 << bit % 8) != 0;
}

/* Whether every alias, and what was joined to its set, points at a set. */
static const char *
check_aliases(const struct check *c)
{
	const struct image_header *h = c->header;
	const struct image_slot *slots = (const void *)(c->image + h->slots);

	for (size_t i = 0; i >> h->slot_bits == 0; i++) {
		const struct image_node *node;
		const uint32_t *origins;
		unsigned int count;

		if (slots[i].node == 0)
			continue;
		node = (const void *)(c->image + slots[i].node);
		if (node->set == 0)
			continue;
		if (!is_set(c, node->set))
			return "alias points astray";
		origins = image_origins(c->image, node->set, &count);
		for (; count > 0; count--)
			if (!is_set(c, *origins++))
				return "alias points astray";
	}
	return NULL;
}

const char *
image_check(const uint8_t *image, size_t size, bool draft)
{
	struct check c = {
		.image = image,
		.header = (const void *)image,
		.size = size,
		.draft = draft,
	};
	const char *why = check_header(c.header, size);

	if (why == NULL)
		why = check_strings(&c);
	if (why != NULL)
		return why;
	c.sets = calloc((size - c.header->nodes) / 32 + 1, 1);
	if (c.sets == NULL)
		return "out of memory while checking";
	why = check_nodes(&c);
	if (why == NULL && c.aliases)
		why = check_aliases(&c);
	free(c.sets);
	return why;
}
