/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A builder's records: adding them to a name, sharing them between names,
 * dropping them, and choosing the family of allocated addresses.
 */
#include "resolver/image/builder.h"

#include <errno.h>
#include <string.h>

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"
#include "resolver/image/mesh.h"

static int
rrset_get(struct builder *b, uint32_t set, uint16_t type, uint32_t ttl,
    uint32_t *handle)
{
	uint32_t last = 0;
	struct build_rrset *rrset;
	int error;

	for (*handle = BUILD_AT(b, struct build_set, set)->first; *handle != 0;
	    *handle = rrset->next) {
		rrset = BUILD_AT(b, struct build_rrset, *handle);
		if (rrset->type == type) {
			/* RFC 2181 section 5.2: one TTL; the lowest is safe. */
			if (ttl < rrset->ttl)
				rrset->ttl = ttl;
			return 0;
		}
		last = *handle;
	}
	error = build_count_octets(b, sizeof(struct image_rrset) + 3);
	if (error == 0)
		error = arena_take(&b->arena, sizeof(*rrset), handle);
	if (error != 0)
		return error;
	rrset = BUILD_AT(b, struct build_rrset, *handle);
	rrset->type = type;
	rrset->ttl = ttl;
	if (last != 0)
		BUILD_AT(b, struct build_rrset, last)->next = *handle;
	else
		BUILD_AT(b, struct build_set, set)->first = *handle;
	return 0;
}

/* The seed is the RRset: equal data of two names has two keys. */
static uint32_t
record_tag(uint32_t rrset, const void *rdata, uint16_t length)
{
	return image_hash_tag(XXH3_64bits_withSeed(rdata, length, rrset));
}

/*
 * Up to this many records of an RRset are compared one by one.  Most RRsets
 * have one or two; indexing those would cost more than it saves.
 */
#define RECORDS_UNINDEXED	8

static bool
record_equals(const struct build_record *record, const void *rdata,
    uint16_t length)
{
	return record->length == length &&
	    memcmp(record->octets, rdata, length) == 0;
}

static bool
record_exists(const struct builder *b, uint32_t rrset, uint32_t tag,
    const void *rdata, uint16_t length)
{
	const struct build_rrset *r =
	    BUILD_AT(b, const struct build_rrset, rrset);
	const struct build_record *record;
	uint32_t handle;
	size_t step = 0;

	for (handle = r->first; r->count <= RECORDS_UNINDEXED && handle != 0;
	    handle = record->next) {
		record = BUILD_AT(b, const struct build_record, handle);
		if (record_equals(record, rdata, length))
			return true;
	}
	while (r->count > RECORDS_UNINDEXED &&
	    (handle = build_index_next(&b->records, tag, &step)) != 0) {
		record = BUILD_AT(b, const struct build_record, handle);
		if (record->rrset == rrset &&
		    record_equals(record, rdata, length))
			return true;
	}
	return false;
}

/* Indexes the new record and, when the limit is passed, all before it. */
static int
record_index(struct builder *b, uint32_t rrset, uint32_t last)
{
	const struct build_rrset *r =
	    BUILD_AT(b, const struct build_rrset, rrset);
	const struct build_record *record;
	uint32_t handle = last;

	if (r->count <= RECORDS_UNINDEXED)
		return 0;
	if (r->count == RECORDS_UNINDEXED + 1)
		handle = r->first;
	for (; handle != 0; handle = record->next) {
		int error = build_index_reserve(&b->records);

		if (error != 0)
			return error;
		record = BUILD_AT(b, const struct build_record, handle);
		build_index_place(&b->records, record_tag(rrset, record->octets,
		    record->length), handle);
	}
	return 0;
}

/* Adds to a set that may be changed.  rdata lies outside the arena. */
static int
set_add(struct builder *b, uint32_t set, uint16_t type, uint32_t ttl,
    const void *rdata, uint16_t length)
{
	size_t octets = length + (rdata_fixed_length(type) != 0 ? 0u : 2u);
	struct build_record *record;
	struct build_rrset *rrset;
	uint32_t rrset_handle, handle, tag;
	int error;

	error = rrset_get(b, set, type, ttl, &rrset_handle);
	if (error != 0)
		return error;
	tag = record_tag(rrset_handle, rdata, length);
	if (record_exists(b, rrset_handle, tag, rdata, length))
		return BUILDER_DUPLICATE;
	if (BUILD_AT(b, struct build_rrset, rrset_handle)->count ==
	    BUILDER_RECORDS_MAX) {
		if (b->crowded++ == 0)
			b->crowded_node = BUILD_AT(b, struct build_set,
			    set)->owner;
		return BUILDER_DUPLICATE;
	}
	error = build_count_octets(b, octets);
	if (error == 0)
		error = arena_take(&b->arena, sizeof(*record) + length,
		    &handle);
	if (error != 0)
		return error;
	record = BUILD_AT(b, struct build_record, handle);
	record->rrset = rrset_handle;
	record->length = length;
	if (length > 0)
		memcpy(record->octets, rdata, length);
	rrset = BUILD_AT(b, struct build_rrset, rrset_handle);
	if (rrset->last != 0)
		BUILD_AT(b, struct build_record, rrset->last)->next = handle;
	else
		rrset->first = handle;
	rrset->last = handle;
	rrset->count++;
	rrset->size += (uint32_t)octets;
	error = record_index(b, rrset_handle, handle);
	return error != 0 ? error : BUILDER_ADDED;
}

/* Notes whose records the set has, too.  0, -E2BIG, or -ENOSPC: of too many. */
static int
add_origin(struct builder *b, uint32_t set, uint32_t origin)
{
	uint32_t *origins = BUILD_AT(b, struct build_set, set)->origins;

	for (size_t i = 0; i < IMAGE_ORIGINS; i++) {
		if (origins[i] == origin)
			return 0;
		if (origins[i] == 0) {
			origins[i] = origin;
			return build_count_octets(b, sizeof(origin));
		}
	}
	return -ENOSPC;
}

/* The set itself, and those that were joined to it. */
static int
add_origins(struct builder *b, uint32_t to, uint32_t from)
{
	const struct build_set *set = BUILD_AT(b, struct build_set, from);
	int error = add_origin(b, to, from);

	for (size_t i = 0; i < IMAGE_ORIGINS && set->origins[i] != 0 &&
	    error == 0; i++)
		if (set->origins[i] != to)
			error = add_origin(b, to, set->origins[i]);
	return error;
}

/*
 * Joins all records of set "from" to set "to", unless that has those of too many
 * names: rules judge each of them.
 */
static int
set_join(struct builder *b, uint32_t to, uint32_t from)
{
	uint32_t rrset, record;
	int outcome = add_origins(b, to, from);

	if (outcome != 0)
		return outcome == -ENOSPC ? BUILDER_DUPLICATE : outcome;
	outcome = BUILDER_DUPLICATE;
	for (rrset = BUILD_AT(b, struct build_set, from)->first; rrset != 0;
	    rrset = BUILD_AT(b, struct build_rrset, rrset)->next) {
		for (record = BUILD_AT(b, struct build_rrset, rrset)->first;
		    record != 0;
		    record = BUILD_AT(b, struct build_record, record)->next) {
			const struct build_rrset *r =
			    BUILD_AT(b, struct build_rrset, rrset);
			const struct build_record *source =
			    BUILD_AT(b, struct build_record, record);
			uint8_t rdata[UINT16_MAX];
			int error;

			/* A copy: adding may move the arena. */
			memcpy(rdata, source->octets, source->length);
			error = set_add(b, to, r->type, r->ttl, rdata,
			    source->length);
			if (error < 0)
				return error;
			if (error == BUILDER_ADDED)
				outcome = BUILDER_ADDED;
		}
	}
	return outcome;
}

/*
 * The node's own set: a new one if it has none, a copy if it shares another
 * node's, since an addition to an alias must not change the owner.
 */
static int
set_own(struct builder *b, uint32_t node, unsigned int line, uint32_t *set)
{
	uint32_t old = BUILD_AT(b, struct build_node, node)->set;
	int error;

	if (old != 0 && BUILD_AT(b, struct build_set, old)->owner == node) {
		*set = old;
		return 0;
	}
	error = build_count_octets(b, sizeof(struct image_set));
	if (error == 0)
		error = arena_take(&b->arena, sizeof(struct build_set), set);
	if (error != 0)
		return error;
	BUILD_AT(b, struct build_set, *set)->owner = node;
	if (old != 0) {
		error = set_join(b, *set, old);
		if (error < 0)
			return error;
	}
	build_node_name(b, node, *set, line);
	return 0;
}

/* :: or ::1 (RFC 4291 section 2.5). */
static bool
is_local_v6(const uint8_t *octets)
{
	static const uint8_t zeros[15];

	return memcmp(octets, zeros, sizeof(zeros)) == 0 && octets[15] <= 1;
}

/*
 * Notes the family of an address that shows which families the mesh has:
 * loopback, unspecified and allocated addresses do not.
 */
static void
note_family(struct builder *b, uint16_t type, const uint8_t *octets)
{
	static const uint8_t zeros[4];

	if (type == TYPE_A && octets[0] != 127 &&
	    memcmp(octets, zeros, sizeof(zeros)) != 0 &&
	    !istio_range_has(octets, 4))
		b->has_ipv4 = true;
	if (type == TYPE_AAAA && !is_local_v6(octets) &&
	    !istio_range_has(octets, 16))
		b->has_ipv6 = true;
}

/* Whether the source leaves out addresses that Istio allocates. */
static bool
skips_allocated(const struct builder *b)
{
	return b->source < b->mesh->source_count &&
	    b->mesh->sources[b->source].skip_allocated;
}

int
builder_add(struct builder *b, const struct dns_name *owner, uint8_t flags,
    uint16_t type, uint32_t ttl, const void *rdata, uint16_t rdlength,
    unsigned int line)
{
	struct build_key key = build_key_of(owner);
	uint32_t node, set;
	bool created;
	int error;

	if (!rdata_valid(type, rdata, rdlength))
		return -EINVAL;
	if ((type == TYPE_A || type == TYPE_AAAA) && skips_allocated(b) &&
	    istio_range_has(rdata, rdlength))
		return BUILDER_SKIPPED;
	error = build_node_get(b, &key, &node, &created);
	if (error != 0)
		return error;
	b->recent = node;
	if (!created && build_is_shadowed(b, node, line))
		return BUILDER_SHADOWED;
	error = set_own(b, node, line, &set);
	if (error != 0)
		return error;
	BUILD_AT(b, struct build_node, node)->flags |= flags;
	b->types[type / 8] |= (uint8_t)(1 << type % 8);
	note_family(b, type, rdata);
	if (flags & NAME_CLOSEST && key.wildcard &&
	    key.labels < b->closest_labels)
		b->closest_labels = key.labels;
	return set_add(b, set, type, ttl, rdata, rdlength);
}

int
builder_alias(struct builder *b, const struct dns_name *owner,
    const struct dns_name *alias, uint8_t flags, unsigned int line)
{
	struct build_key owner_key = build_key_of(owner), key = build_key_of(alias);
	uint32_t owner_node, owner_set, node, set;
	bool created;
	int error;

	owner_node = build_node_find(b, &owner_key);
	if (owner_node == 0)
		return -ENOENT;
	owner_set = BUILD_AT(b, struct build_node, owner_node)->set;
	if (owner_set == 0)
		return -ENOENT;
	error = build_node_get(b, &key, &node, &created);
	if (error != 0)
		return error;
	if (!created && build_is_shadowed(b, node, line))
		return BUILDER_SHADOWED;
	BUILD_AT(b, struct build_node, node)->flags |= flags;
	if (BUILD_AT(b, struct build_node, node)->set == owner_set)
		return BUILDER_DUPLICATE;
	if (BUILD_AT(b, struct build_node, node)->set == 0) {
		build_node_name(b, node, owner_set, line);
		return BUILDER_ADDED;
	}
	error = set_own(b, node, line, &set);
	return error != 0 ? error : set_join(b, set, owner_set);
}

bool
builder_has(const struct builder *b, uint16_t type)
{
	return (b->types[type / 8] & 1 << type % 8) != 0;
}

/* The link that leads to the node's RRset of that type; NULL: none. */
static uint32_t *
find_link(const struct builder *b, uint32_t node, uint16_t type)
{
	uint32_t set = node != 0 ?
	    BUILD_AT(b, const struct build_node, node)->set : 0;
	uint32_t *link = set != 0 ?
	    &BUILD_AT(b, struct build_set, set)->first : NULL;

	while (link != NULL && *link != 0) {
		struct build_rrset *rrset =
		    BUILD_AT(b, struct build_rrset, *link);

		if (rrset->type == type)
			return link;
		link = &rrset->next;
	}
	return NULL;
}

static void
drop_type(struct builder *b, uint32_t node, uint16_t type)
{
	uint32_t *link = find_link(b, node, type);

	if (link == NULL)
		return;
	*link = BUILD_AT(b, const struct build_rrset, *link)->next;
	b->dropped = true;
}

void
builder_drop(struct builder *b, const struct dns_name *owner, uint16_t type)
{
	struct build_key key = build_key_of(owner);

	drop_type(b, build_node_find(b, &key), type);
}

/*
 * Addresses that were allocated to names.  Nothing answers at one whose family
 * the mesh does not have, and yet clients try it: by RFC 6724 they prefer
 * 2001:2::/48 to IPv4 as soon as there is a route for it.  The table's other
 * addresses show which families the mesh has, once all sources were read.
 */
struct build_allocated {
	uint32_t next;
	uint32_t node;
};

int
builder_add_allocated(struct builder *b, const struct dns_name *owner,
    uint32_t ttl, const uint8_t *octets, uint8_t length, unsigned int line)
{
	uint16_t type = length == 4 ? TYPE_A : TYPE_AAAA;
	bool has_ipv4 = b->has_ipv4, has_ipv6 = b->has_ipv6;
	struct build_key key = build_key_of(owner);
	struct build_allocated *allocated;
	uint32_t handle;
	int outcome, error;

	if (skips_allocated(b))
		return BUILDER_SKIPPED;
	outcome = builder_add(b, owner, 0, type, ttl, octets, length, line);
	/* istiod may be set to other ranges: it shows no family either. */
	b->has_ipv4 = has_ipv4;
	b->has_ipv6 = has_ipv6;
	if (outcome != BUILDER_ADDED)
		return outcome;
	error = arena_take(&b->arena, sizeof(*allocated), &handle);
	if (error != 0)
		return error;
	allocated = BUILD_AT(b, struct build_allocated, handle);
	allocated->next = b->first_allocated;
	allocated->node = build_node_find(b, &key);
	b->first_allocated = handle;
	return outcome;
}

void
build_choose_families(struct builder *b)
{
	/* Without any other address IPv4 is wanted. */
	uint16_t unwanted = !b->has_ipv6 ? TYPE_AAAA : TYPE_A;
	uint16_t wanted = !b->has_ipv6 ? TYPE_A : TYPE_AAAA;
	const struct build_allocated *allocated;

	if (b->has_ipv4 && b->has_ipv6)
		return;
	for (uint32_t handle = b->first_allocated; handle != 0;
	    handle = allocated->next) {
		allocated = BUILD_AT(b, const struct build_allocated, handle);
		/* A name with addresses of one family only keeps them. */
		if (find_link(b, allocated->node, wanted) != NULL)
			drop_type(b, allocated->node, unwanted);
	}
	b->first_allocated = 0;
}

void
build_sweep(struct builder *b)
{
	uint32_t handle = b->dropped ? b->first_node : 0, before = 0, next;

	for (; handle != 0; handle = next) {
		struct build_node *node =
		    BUILD_AT(b, struct build_node, handle);

		next = node->next;
		if (node->set != 0 && BUILD_AT(b, const struct build_set,
		    node->set)->first == 0) {
			node->set = 0;
			b->name_count--;
		}
		if (node->set != 0 || (node->flags & IMAGE_WILDCARD) == 0) {
			before = handle;
			continue;
		}
		/* A wildcard without records is no empty non-terminal. */
		b->node_count--;
		if (before != 0)
			BUILD_AT(b, struct build_node, before)->next = next;
		else
			b->first_node = next;
		if (next == 0)
			b->last_node = before;
	}
	b->dropped = false;
}
