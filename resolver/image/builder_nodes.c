/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A builder's nodes: the names, which source and file each comes from, and
 * which later sources define them again.  Records are builder.c's.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"

#define INDEX_FIRST_BITS	10
/* What is expected may be a lie: this has space for two million. */
#define INDEX_EXPECTED_BITS	22

uint32_t
build_index_next(const struct build_index *index, uint32_t tag, size_t *step)
{
	size_t mask = ((size_t)1 << index->bits) - 1;

	if (index->slots == NULL)
		return 0;
	for (;;) {
		size_t at = ((tag >> (32 - index->bits)) + *step) & mask;
		const struct build_slot *slot = &index->slots[at];

		(*step)++;
		if (slot->handle == 0 || slot->tag == tag)
			return slot->handle;
	}
}

void
build_index_place(struct build_index *index, uint32_t tag, uint32_t handle)
{
	size_t mask = ((size_t)1 << index->bits) - 1;
	size_t at = tag >> (32 - index->bits);

	while (index->slots[at].handle != 0)
		at = (at + 1) & mask;
	index->slots[at] = (struct build_slot){ tag, handle };
	index->count++;
}

/* Moves all to a table of 2^bits slots. */
static int
grow(struct build_index *index, unsigned int bits)
{
	struct build_index grown = { .bits = bits };

	if (bits > 31)
		return -E2BIG;
	grown.slots = calloc((size_t)1 << bits, sizeof(*grown.slots));
	if (grown.slots == NULL)
		return -ENOMEM;
	for (size_t i = 0; index->slots != NULL && i >> index->bits == 0; i++) {
		if (index->slots[i].handle != 0)
			build_index_place(&grown, index->slots[i].tag,
			    index->slots[i].handle);
	}
	free(index->slots);
	*index = grown;
	return 0;
}

static bool
has_space(const struct build_index *index, size_t count)
{
	return index->slots != NULL && count <= (size_t)1 << index->bits >> 1;
}

int
build_index_reserve(struct build_index *index)
{
	if (has_space(index, index->count + 1))
		return 0;
	return grow(index, index->slots == NULL ? INDEX_FIRST_BITS :
	    index->bits + 1);
}

void
build_index_expect(struct build_index *index, size_t count)
{
	unsigned int bits = INDEX_FIRST_BITS;

	while (bits < INDEX_EXPECTED_BITS && (size_t)1 << bits >> 1 < count)
		bits++;
	if (!has_space(index, count) && bits > index->bits)
		/* Without it the index grows when it must. */
		(void)grow(index, bits);
}

void
build_index_replace(struct build_index *index, uint32_t tag, size_t step,
    uint32_t handle)
{
	size_t mask = ((size_t)1 << index->bits) - 1;

	index->slots[((tag >> (32 - index->bits)) + step - 1) & mask].handle =
	    handle;
}

void
build_index_free(struct build_index *index)
{
	free(index->slots);
	*index = (struct build_index){ .bits = 0 };
}

int
arena_take(struct arena *arena, size_t n, uint32_t *handle)
{
	n = (n + 3) & ~(size_t)3;
	if (arena->used + n > UINT32_MAX)
		return -E2BIG;
	if (arena->used + n > arena->size) {
		/* By half, not double: untouched pages count in RLIMIT_AS. */
		size_t size = arena->used + n + arena->size / 2 + 65536;
		uint8_t *octets = realloc(arena->octets, size);

		if (octets == NULL)
			return -ENOMEM;
		arena->octets = octets;
		arena->size = size;
	}
	*handle = (uint32_t)arena->used;
	memset(arena->octets + arena->used, 0, n);
	arena->used += n;
	return 0;
}

void
arena_free(struct arena *arena)
{
	free(arena->octets);
	*arena = (struct arena)ARENA_INIT;
}

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
	build_index_free(&b->names);
	build_index_free(&b->records);
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

const char *
build_file_path(const struct builder *b, size_t file)
{
	const size_t sources = b->mesh->source_count;
	const char *path = NULL;

	if (file < sources)
		path = b->mesh->sources[file].path;
	else if (file - sources < b->file_count)
		path = b->files[file - sources];
	return path != NULL ? path : "";
}

void
builder_set_policy(struct builder *b, const struct image_policy *policy)
{
	b->policy = *policy;
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

static bool
node_is(const struct builder *b, uint32_t handle, const struct build_key *key)
{
	const struct build_node *node =
	    BUILD_AT(b, const struct build_node, handle);

	return node->length == key->length &&
	    (node->flags & IMAGE_WILDCARD) == key->wildcard &&
	    memcmp(node->octets, key->octets, key->length) == 0;
}

static uint32_t
tag_of(const struct build_key *key)
{
	return image_hash_tag(image_hash(key->octets, key->length,
	    key->wildcard));
}

static uint32_t
node_find(const struct builder *b, const struct build_key *key, uint32_t tag)
{
	size_t step = 0;
	uint32_t handle;

	while ((handle = build_index_next(&b->names, tag, &step)) != 0)
		if (node_is(b, handle, key))
			break;
	return handle;
}

/* Most names are looked up several times in a row: for each address, alias. */
static bool
is_recent(const struct builder *b, const struct build_key *key)
{
	return b->recent != 0 && node_is(b, b->recent, key);
}

uint32_t
build_node_find(const struct builder *b, const struct build_key *key)
{
	return is_recent(b, key) ? b->recent : node_find(b, key, tag_of(key));
}

void
builder_expect(struct builder *b, size_t names)
{
	build_index_expect(&b->names, b->names.count + names);
}

void
builder_prefetch(const struct builder *b, const struct dns_name *name)
{
	const struct build_key key = build_key_of(name);

	build_index_prefetch(&b->names, tag_of(&key));
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

/* A few octets of a source must not become an image that fills the memory. */
#define IMAGE_TIMES		64
#define IMAGE_FREE_OCTETS	((uint64_t)64 << 20)

int
build_count_octets(struct builder *b, size_t n)
{
	const uint64_t most = b->source_octets * IMAGE_TIMES;

	if (b->image_octets + n > IMAGE_MAX_OCTETS)
		return -E2BIG;
	if (b->source_octets > 0 && b->image_octets + n > IMAGE_FREE_OCTETS &&
	    b->image_octets + n > most)
		return -EFBIG;
	b->image_octets += n;
	return 0;
}

int
build_node_get(struct builder *b, const struct build_key *key, uint32_t *handle,
    bool *created)
{
	struct build_node *node;
	uint32_t tag;
	int error;

	*created = false;
	*handle = b->recent;
	if (is_recent(b, key))
		return 0;
	tag = tag_of(key);
	*handle = node_find(b, key, tag);
	if (*handle != 0)
		return 0;
	error = build_count_octets(b, image_pad4(sizeof(struct image_node) +
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

void
build_node_name(struct builder *b, uint32_t handle, uint32_t set,
    unsigned int line)
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

bool
build_is_shadowed(struct builder *b, uint32_t handle, unsigned int line)
{
	struct build_node *node = BUILD_AT(b, struct build_node, handle);

	if (node->set == 0 || node->source == b->source)
		return false;
	if (node->shadows == b->source + 1)
		return true;
	node->shadows = (uint16_t)(b->source + 1);
	if (b->shadowed < BUILDER_SHADOWS_KEPT)
		b->shadows[b->shadowed] = (struct build_shadow){
			handle, b->file, line };
	b->shadowed++;
	return true;
}

size_t
builder_shadowed(const struct builder *b)
{
	return b->shadowed;
}

void
builder_allow(struct builder *b, size_t octets)
{
	b->source_octets += octets;
}

static void
node_name(const struct build_node *node, struct dns_name *name)
{
	const size_t star = node->flags & IMAGE_WILDCARD ? 2 : 0;

	memcpy(name->octets, "\1*", star);
	memcpy(name->octets + star, node->octets, node->length);
	name->length = (uint8_t)(node->length + star);
	name->labels = (uint8_t)(node->labels + star / 2);
}

static bool
node_text(const struct builder *b, uint32_t node,
    char text[static NAME_TEXT_SIZE])
{
	struct dns_name name;

	if (node == 0)
		return false;
	node_name(BUILD_AT(b, const struct build_node, node), &name);
	(void)name_to_text(name.octets, text);
	return true;
}

bool
builder_last_name(const struct builder *b, char name[static NAME_TEXT_SIZE])
{
	return node_text(b, b->recent != 0 ? b->recent : b->last_node, name);
}

size_t
builder_crowded(const struct builder *b, char name[static NAME_TEXT_SIZE])
{
	(void)node_text(b, b->crowded_node, name);
	return b->crowded;
}

void
builder_shadow(const struct builder *b, size_t n, struct builder_shadow *shadow)
{
	const struct build_shadow *kept = &b->shadows[n];
	const struct build_node *node =
	    BUILD_AT(b, const struct build_node, kept->node);

	shadow->path = build_file_path(b, kept->file);
	shadow->line = kept->line;
	shadow->winner_path = build_file_path(b, node->file);
	shadow->winner_line = node->line;
	node_name(node, &shadow->name);
}
