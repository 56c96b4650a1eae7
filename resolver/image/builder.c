/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/builder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/builder_index.h"
#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"
#include "resolver/dns/rdata.h"

struct builder *
builder_new(const struct mesh *mesh)
{
	struct builder *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->mesh = mesh;
	b->closest_labels = UINT_MAX;
	b->arena = (struct arena)ARENA_INIT;
	return b;
}

void
builder_free(struct builder *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; i < b->file_count; i++)
		free(b->files[i]);
	free(b->files);
	arena_free(&b->arena);
	free(b->names.slots);
	free(b->records.slots);
	free(b);
}

void
builder_source(struct builder *b, unsigned int source)
{
	b->source = source;
	b->file = source;
	b->shadowed = 0;
}

int
builder_file_add(struct builder *b, const char *path)
{
	size_t number = b->mesh->source_count + b->file_count;
	char **files;

	if (number > UINT16_MAX)
		return -E2BIG;
	files = reallocarray(b->files, b->file_count + 1, sizeof(*files));
	if (files == NULL)
		return -ENOMEM;
	b->files = files;
	files[b->file_count] = strdup(path);
	if (files[b->file_count] == NULL)
		return -ENOMEM;
	b->file_count++;
	return (int)number;
}

void
builder_file_set(struct builder *b, unsigned int file)
{
	b->file = file;
}

unsigned int
builder_file(const struct builder *b)
{
	return b->file;
}

void
builder_set_unloaded(struct builder *b)
{
	b->unloaded = true;
}

size_t
builder_names(const struct builder *b)
{
	return b->name_count;
}

struct build_key
build_key_of(const struct dns_name *name)
{
	if (name->octets[0] == 1 && name->octets[1] == '*')
		return (struct build_key){ name->octets + 2,
		    (uint8_t)(name->length - 2), (uint8_t)(name->labels - 1),
		    IMAGE_WILDCARD };
	return (struct build_key){ name->octets, name->length, name->labels, 0 };
}

static uint32_t
node_find(const struct builder *b, const struct build_key *key, uint32_t tag)
{
	size_t step = 0;
	uint32_t handle;

	while ((handle = build_index_next(&b->names, tag, &step)) != 0) {
		const struct build_node *node =
		    BUILD_AT(b, const struct build_node, handle);

		if (node->length == key->length &&
		    (node->flags & IMAGE_WILDCARD) == key->wildcard &&
		    memcmp(node->octets, key->octets, key->length) == 0)
			break;
	}
	return handle;
}

uint32_t
build_node_find(const struct builder *b, const struct build_key *key)
{
	return node_find(b, key, image_hash_tag(image_hash(key->octets,
	    key->length, key->wildcard)));
}

bool
builder_owned(const struct builder *b, const struct dns_name *name)
{
	struct build_key key = build_key_of(name);
	uint32_t node = build_node_find(b, &key);
	const struct build_node *n;

	if (node == 0)
		return false;
	n = BUILD_AT(b, const struct build_node, node);
	return n->set != 0 && (n->flags & NAME_OWNED) != 0;
}

/* Counts octets of the image; slots are counted at their sparsest. */
static int
count_octets(struct builder *b, size_t n)
{
	if (b->image_octets + n > IMAGE_MAX_OCTETS)
		return -E2BIG;
	b->image_octets += n;
	return 0;
}

int
build_node_get(struct builder *b, const struct build_key *key, uint32_t *handle,
    bool *created)
{
	uint32_t tag = image_hash_tag(
	    image_hash(key->octets, key->length, key->wildcard));
	struct build_node *node;
	int error;

	*created = false;
	*handle = node_find(b, key, tag);
	if (*handle != 0)
		return 0;
	error = count_octets(b, image_pad4(sizeof(struct image_node) +
	    key->length) + 3 * sizeof(struct image_slot));
	if (error == 0)
		error = build_index_reserve(&b->names);
	if (error == 0)
		error = arena_take(&b->arena, sizeof(*node) + key->length,
		    handle);
	if (error != 0)
		return error;
	node = BUILD_AT(b, struct build_node, *handle);
	node->source = (uint16_t)b->source;
	node->file = (uint16_t)b->file;
	node->flags = key->wildcard;
	node->labels = key->labels;
	node->length = key->length;
	memcpy(node->octets, key->octets, key->length);
	build_index_place(&b->names, tag, *handle);
	if (b->last_node != 0)
		BUILD_AT(b, struct build_node, b->last_node)->next = *handle;
	else
		b->first_node = *handle;
	b->last_node = *handle;
	b->node_count++;
	*created = true;
	return 0;
}

/* Gives the node records for the first time. */
static void
node_name(struct builder *b, uint32_t handle, uint32_t set, unsigned int line)
{
	struct build_node *node = BUILD_AT(b, struct build_node, handle);

	if (node->set == 0) {
		node->source = (uint16_t)b->source;
		node->file = (uint16_t)b->file;
		node->line = line;
		b->name_count++;
	}
	node->set = set;
}

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
	error = count_octets(b, sizeof(struct image_rrset) + 3);
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

/* The seed is the RRset, so equal data of other names is another key. */
static uint32_t
record_tag(uint32_t rrset, const void *rdata, uint16_t length)
{
	return image_hash_tag(XXH3_64bits_withSeed(rdata, length, rrset));
}

/*
 * Up to this many records of an RRset are compared one by one; most have one
 * or two, and an index entry for each would cost more than it saves.
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

/* Indexes the record just added, and when the RRset grows, those before. */
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
	error = count_octets(b, octets);
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

/* Joins all records of set "from" to set "to". */
static int
set_join(struct builder *b, uint32_t to, uint32_t from)
{
	uint32_t rrset, record;
	int outcome = BUILDER_DUPLICATE;

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

			/* The arena may move under the one that is copied. */
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
 * A set that belongs to the node alone, made if there is none, copied if it
 * is another node's: what is added to an alias is not added to its owner.
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
	error = count_octets(b, sizeof(struct image_set));
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
	node_name(b, node, *set, line);
	return 0;
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
	error = build_node_get(b, &key, &node, &created);
	if (error != 0)
		return error;
	if (!created && build_is_shadowed(b, node, line))
		return BUILDER_SHADOWED;
	error = set_own(b, node, line, &set);
	if (error != 0)
		return error;
	BUILD_AT(b, struct build_node, node)->flags |= flags;
	b->types[type / 8] |= (uint8_t)(1 << type % 8);
	build_note_family(b, type, rdata);
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
		node_name(b, node, owner_set, line);
		return BUILDER_ADDED;
	}
	error = set_own(b, node, line, &set);
	return error != 0 ? error : set_join(b, set, owner_set);
}
