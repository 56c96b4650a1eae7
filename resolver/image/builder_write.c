/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lays out and writes the image: assigns slots to nodes and offsets to records,
 * then writes everything front to back through one small buffer, so that this
 * process never holds the whole image in memory.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"
#include "resolver/image/builder.h"
#include "resolver/image/builder_state.h"
#include "resolver/image/image.h"

/* Builds the filters of an image (image.h). */

struct build_filter {
	uint64_t *words;
	unsigned int bits;		/* 2^bits words */
	uint32_t mask;			/* their number less one */
};

/* Start from zeros; owns the words. */
struct build_filters {
	struct build_filter tails, heads;
};

/* A sequential writer with a sticky error. */
struct image_out {
	int fd;
	int error;
	uint64_t offset;	/* of the buffer's first octet */
	size_t used;
	XXH3_state_t *hash;
	uint8_t buffer[65536];
};

/* So many steps ahead what is needed is fetched from memory. */
#define AHEAD	16

/* A slot while the image is laid out. */
struct plan_slot {
	uint32_t tag;
	uint32_t node;		/* handle */
	uint32_t at;		/* size of the node and its set, then its offset */
};

struct plan {
	struct plan_slot *slots;
	struct build_filters filters;
	struct image_header header;
};

/* So many steps ahead what is needed is fetched from memory. */
#define AHEAD	16

static void
add_tail(struct build_filter *f, const uint8_t *octets, size_t length,
    unsigned int flags)
{
	uint32_t tail = image_tail(octets, length);

	f->words[image_tail_word(tail, f->mask)] |=
	    (uint64_t)flags << image_tail_shift(tail);
}

/* Bits that are about to be set: the filter of a large table is in no cache. */
struct arrivals {
	uint64_t heads[AHEAD];
	size_t count, done;
};

static void
set_head(struct build_filter *f, struct arrivals *a)
{
	uint64_t head = a->heads[a->done++ % AHEAD];

	f->words[image_head_word(head, f->mask)] |=
	    (uint64_t)1 << image_head_bit(head);
}

static void
add_head(struct build_filter *f, struct arrivals *a, uint64_t head)
{
	if (a->count - a->done == AHEAD)
		set_head(f, a);
	a->heads[a->count++ % AHEAD] = head;
	__builtin_prefetch(&f->words[image_head_word(head, f->mask)]);
}

static void
add_node(struct build_filters *filters, struct arrivals *a,
    const struct build_node *node)
{
	bool wildcard = (node->flags & IMAGE_WILDCARD) != 0;
	/* Some octets behind the name are read. */
	uint8_t octets[NAME_MAX_OCTETS + IMAGE_TAIL_OCTETS];

	memcpy(octets, node->octets, node->length);
	memset(octets + node->length, 0, IMAGE_TAIL_OCTETS);
	add_tail(&filters->tails, octets, node->length,
	    IMAGE_TAIL_ANY | (wildcard ? IMAGE_TAIL_WILDCARD : 0));
	if (wildcard)
		return;
	add_head(&filters->heads, a, image_head(octets));
	if (node->labels >= 2)
		add_head(&filters->heads, a, image_head_of_two(octets));
}

/* Whether a wildcard is so short that names below it have any tail. */
static bool
is_short(const struct build_node *node)
{
	return (node->flags & IMAGE_WILDCARD) != 0 &&
	    node->length < IMAGE_TAIL_OCTETS;
}

static void
fill(struct build_filters *filters, const struct builder *b)
{
	const struct mesh *mesh = b->mesh;
	struct arrivals arrivals = { .count = 0 };
	const struct build_node *node;

	for (size_t i = 0; i < mesh->search_count; i++) {
		if (mesh->search[i].length >= IMAGE_TAIL_OCTETS)
			add_tail(&filters->tails, mesh->search[i].octets,
			    mesh->search[i].length, IMAGE_TAIL_ANY);
	}
	for (uint32_t handle = b->first_node; handle != 0;
	    handle = node->next) {
		node = BUILD_AT(b, const struct build_node, handle);
		if (is_short(node))
			memset(filters->tails.words, 0xff,
			    (filters->tails.mask + (size_t)1) *
			    sizeof(*filters->tails.words));
		add_node(filters, &arrivals, node);
	}
	while (arrivals.done < arrivals.count)
		set_head(&filters->heads, &arrivals);
}

/* Folds to the smallest filter with at most one bit in "sparse" set. */
static void
fold(struct build_filter *f, unsigned int sparse)
{
	for (;;) {
		size_t half = (f->mask + (size_t)1) / 2;
		size_t set = 0;

		for (size_t i = 0; i < half; i++)
			set += (size_t)__builtin_popcountll(f->words[i] |
			    f->words[i + half]);
		/* A filter with all bits set can be folded, too. */
		if (half == 0 || (set * sparse > half * 64 &&
		    set != half * 64))
			return;
		for (size_t i = 0; i < half; i++)
			f->words[i] |= f->words[i + half];
		f->bits--;
		f->mask = (uint32_t)(half - 1);
	}
}

static int
filter_new(struct build_filter *f, size_t words, unsigned int most)
{
	while (f->bits < most && (size_t)1 << f->bits < words)
		f->bits++;
	f->mask = ((uint32_t)1 << f->bits) - 1;
	f->words = calloc((size_t)1 << f->bits, sizeof(*f->words));
	return f->words != NULL ? 0 : -ENOMEM;
}

/* Builds them from all nodes; call it after the last was added.  0, -ENOMEM. */
static int
build_filters_make(struct build_filters *filters, const struct builder *b)
{
	size_t names = b->node_count + b->mesh->search_count;
	int error = filter_new(&filters->tails, names, IMAGE_TAIL_BITS_MAX);

	if (error == 0)
		error = filter_new(&filters->heads, names,
		    IMAGE_HEAD_BITS_MAX);
	if (error != 0)
		return error;
	fill(filters, b);
	fold(&filters->tails, 64);
	fold(&filters->heads, 32);
	return 0;
}

static size_t
node_octets(const struct build_node *node)
{
	return image_pad4(sizeof(struct image_node) + node->length);
}

/* Whether the node's records follow it in the image. */
static bool
has_own_set(const struct builder *b, const struct build_node *node,
    uint32_t handle)
{
	return node->set != 0 &&
	    BUILD_AT(b, const struct build_set, node->set)->owner == handle;
}

/* The sets that were joined to it and still have records. */
static uint8_t
origins_of(const struct builder *b, uint32_t set, uint32_t *offsets)
{
	const struct build_set *s = BUILD_AT(b, const struct build_set, set);
	uint8_t count = 0;

	for (size_t i = 0; i < IMAGE_ORIGINS && s->origins[i] != 0; i++) {
		const struct build_set *origin = BUILD_AT(b,
		    const struct build_set, s->origins[i]);

		if (origin->first == 0)
			continue;
		if (offsets != NULL)
			offsets[count] = origin->image;
		count++;
	}
	return count;
}

static size_t
set_octets(const struct builder *b, uint32_t set)
{
	size_t octets = sizeof(struct image_set) +
	    origins_of(b, set, NULL) * sizeof(uint32_t);
	const struct build_rrset *rrset;

	for (uint32_t handle = BUILD_AT(b, struct build_set, set)->first;
	    handle != 0; handle = rrset->next) {
		rrset = BUILD_AT(b, const struct build_rrset, handle);
		octets += sizeof(struct image_rrset) + image_pad4(rrset->size);
	}
	return octets;
}

static bool
has_type(const struct builder *b, uint32_t set, uint16_t type)
{
	const struct build_rrset *rrset;
	uint32_t handle = set == 0 ? 0 :
	    BUILD_AT(b, const struct build_set, set)->first;

	for (; handle != 0; handle = rrset->next) {
		rrset = BUILD_AT(b, const struct build_rrset, handle);
		if (rrset->type == type)
			return true;
	}
	return false;
}

/* How many slots there are; at most 70 of 100 are filled: probing stays short. */
static int
plan_size(struct plan *plan, const struct builder *b)
{
	struct image_header *h = &plan->header;

	h->node_count = (uint32_t)b->node_count;
	h->name_count = (uint32_t)b->name_count;
	for (h->slot_bits = 1; ((uint64_t)7 << h->slot_bits) / 10 <
	    b->node_count; h->slot_bits++)
		continue;
	if (h->slot_bits > 31)
		return -E2BIG;
	plan->slots = calloc((size_t)1 << h->slot_bits,
	    sizeof(*plan->slots));
	return plan->slots != NULL ? 0 : -ENOMEM;
}

/* The levels of names at which lookups will look for more than the name. */
static void
plan_labels(struct image_header *h, const struct builder *b,
    const struct build_node *node)
{
	if (node->flags & IMAGE_WILDCARD)
		h->wildcard_labels[node->labels / 64] |=
		    (uint64_t)1 << node->labels % 64;
	else if (has_type(b, node->set, TYPE_SOA))
		h->soa_labels[node->labels / 64] |=
		    (uint64_t)1 << node->labels % 64;
}

/* A node that is about to get its slot. */
struct arrival {
	uint32_t node;
	uint64_t hash;
};

static void
plan_slot(struct plan *plan, const struct builder *b,
    const struct arrival *arrival)
{
	const struct build_node *node =
	    BUILD_AT(b, const struct build_node, arrival->node);
	const uint32_t mask = ((uint32_t)1 << plan->header.slot_bits) - 1;
	uint32_t at = image_hash_slot(arrival->hash, mask);
	uint64_t octets = node_octets(node);

	while (plan->slots[at].node != 0)
		at = (at + 1) & mask;
	if (has_own_set(b, node, arrival->node)) {
		octets += set_octets(b, node->set);
		BUILD_AT(b, struct build_set, node->set)->image = at;
	}
	/* One above the limit is as good as any: plan_offsets(). */
	if (octets > UINT32_MAX)
		octets = UINT32_MAX;
	plan->slots[at] = (struct plan_slot){ image_hash_tag(arrival->hash),
		arrival->node, (uint32_t)octets };
	plan_labels(&plan->header, b, node);
}

/*
 * Assigns slots in the order of addition, which makes images reproducible.
 * Nodes lie in memory in this order, so their sizes are taken now; the slots
 * are fetched some steps ahead.
 */
static void
plan_slots(struct plan *plan, const struct builder *b)
{
	const uint32_t mask = ((uint32_t)1 << plan->header.slot_bits) - 1;
	struct arrival arrivals[AHEAD];
	const struct build_node *node;
	size_t count = 0, done = 0;

	for (uint32_t handle = b->first_node; handle != 0;
	    handle = node->next) {
		struct arrival *arrival = &arrivals[count % AHEAD];

		if (count++ >= AHEAD)
			plan_slot(plan, b, &arrivals[done++ % AHEAD]);
		node = BUILD_AT(b, const struct build_node, handle);
		*arrival = (struct arrival){ handle, image_hash(node->octets,
			node->length, node->flags & IMAGE_WILDCARD) };
		__builtin_prefetch(&plan->slots[image_hash_slot(arrival->hash,
		    mask)]);
	}
	while (done < count)
		plan_slot(plan, b, &arrivals[done++ % AHEAD]);
}

static size_t
file_count(const struct builder *b)
{
	return b->mesh->source_count + b->file_count;
}

/* Octets of one file's entry in the strings: its path behind a length. */
static size_t
file_path_length(const struct builder *b, size_t file)
{
	size_t length = strlen(build_file_path(b, file));

	return length < UINT16_MAX ? length : UINT16_MAX;
}

static size_t
strings_octets(const struct builder *b)
{
	const struct mesh *mesh = b->mesh;
	size_t octets = 0;

	for (size_t i = 0; i < mesh->search_count; i++)
		octets += mesh->search[i].length;
	for (size_t i = 0; i < mesh->zone_count; i++)
		octets += 1u + mesh->zones[i].name.length;
	for (size_t i = 0; i < file_count(b); i++)
		octets += 2u + file_path_length(b, i);
	return octets;
}

/* Offsets of every node; the total size. */
static int
plan_offsets(struct plan *plan, const struct builder *b)
{
	uint64_t at;
	struct image_header *h = &plan->header;

	/* Offsets of the sections. */
	at = sizeof(*h);
	h->strings = (uint32_t)at;
	at = image_pad8(at + strings_octets(b));
	h->tails = (uint32_t)at;
	h->tail_bits = (uint8_t)plan->filters.tails.bits;
	at += image_filter_octets(h->tail_bits);
	h->heads = (uint32_t)at;
	h->head_bits = (uint8_t)plan->filters.heads.bits;
	at += image_filter_octets(h->head_bits);
	h->policy = (uint32_t)at;
	h->policy_size = (uint32_t)b->policy.size;
	h->policy_names = (uint32_t)b->policy.names;
	at += image_pad8(b->policy.size);
	h->slots = (uint32_t)at;
	at += sizeof(struct image_slot) << h->slot_bits;
	h->nodes = (uint32_t)at;
	for (size_t i = 0; i >> plan->header.slot_bits == 0 &&
	    at <= IMAGE_MAX_OCTETS; i++) {
		uint32_t octets = plan->slots[i].at;

		plan->slots[i].at = (uint32_t)at;
		at += octets;
	}
	if (at > IMAGE_MAX_OCTETS)
		return -E2BIG;
	plan->header.total_size = at;
	return 0;
}

/*
 * Nodes are written in the order of their slots, which is random in the arena,
 * so they are fetched some steps ahead; then the set, which is elsewhere if the
 * node is an alias.  (gcc takes a function that only prefetches for one without
 * effect, and drops calls of it that it has not inlined early.)
 */
__attribute__((always_inline)) static inline void
prefetch(const struct plan *plan, const struct builder *b, size_t i)
{
	const size_t far = AHEAD + AHEAD / 2, near = AHEAD / 2;
	const uint8_t *node;
	uint32_t handle;

	if ((i + far) >> plan->header.slot_bits != 0)
		return;
	node = b->arena.octets + plan->slots[i + far].node;
	__builtin_prefetch(node);
	__builtin_prefetch(node + 64);
	__builtin_prefetch(node + 128);
	handle = plan->slots[i + near].node;
	if (handle != 0)
		__builtin_prefetch(b->arena.octets +
		    BUILD_AT(b, const struct build_node, handle)->set);
}

static void
write_at(struct image_out *out, const void *octets, size_t n, uint64_t offset)
{
	const uint8_t *p = octets;

	while (n > 0 && out->error == 0) {
		ssize_t written = pwrite(out->fd, p, n, (off_t)offset);

		if (written < 0) {
			if (errno != EINTR)
				out->error = -errno;
			continue;
		}
		p += written;
		offset += (uint64_t)written;
		n -= (size_t)written;
	}
}

static void
flush(struct image_out *out)
{
	if (XXH3_64bits_update(out->hash, out->buffer, out->used) == XXH_ERROR)
		out->error = -EINVAL;
	write_at(out, out->buffer, out->used, out->offset);
	out->offset += out->used;
	out->used = 0;
}

/* The place of the next n octets, at most a buffer's; the caller fills it. */
static uint8_t *
reserve(struct image_out *out, size_t n)
{
	uint8_t *place;

	if (sizeof(out->buffer) - out->used < n)
		flush(out);
	place = out->buffer + out->used;
	out->used += n;
	return place;
}

static void
put(struct image_out *out, const void *octets, size_t n)
{
	const uint8_t *p = octets;

	while (n > 0) {
		size_t part = n < sizeof(out->buffer) ? n : sizeof(out->buffer);

		memcpy(reserve(out, part), p, part);
		p += part;
		n -= part;
	}
}

static void
put_zeros(struct image_out *out, size_t n)
{
	static const uint8_t zeros[8];

	assert(n <= sizeof(zeros));
	put(out, zeros, n);
}

static void
put_strings(struct image_out *out, const struct builder *b,
    const struct image_header *h)
{
	const struct mesh *mesh = b->mesh;

	for (size_t i = 0; i < mesh->search_count; i++)
		put(out, mesh->search[i].octets, mesh->search[i].length);
	for (size_t i = 0; i < mesh->zone_count; i++) {
		uint8_t unknown = (uint8_t)mesh->zones[i].unknown;

		put(out, &unknown, 1);
		put(out, mesh->zones[i].name.octets,
		    mesh->zones[i].name.length);
	}
	for (size_t i = 0; i < file_count(b); i++) {
		uint16_t length = (uint16_t)file_path_length(b, i);

		put(out, &length, sizeof(length));
		put(out, build_file_path(b, i), length);
	}
	put_zeros(out, h->tails - h->strings - strings_octets(b));
}

static void
put_rrset(struct image_out *out, const struct builder *b,
    const struct build_rrset *rrset)
{
	struct image_rrset head = {
		.type = rrset->type,
		.rdlength = rdata_fixed_length(rrset->type),
		.ttl = rrset->ttl,
		.count = rrset->count,
		.size = rrset->size,
	};
	const struct build_record *record;

	memcpy(reserve(out, sizeof(head)), &head, sizeof(head));
	for (uint32_t handle = rrset->first; handle != 0;
	    handle = record->next) {
		record = BUILD_AT(b, const struct build_record, handle);
		if (head.rdlength == 0)
			wire_store_u16(reserve(out, 2), record->length);
		put(out, record->octets, record->length);
	}
	put_zeros(out, image_pad4(rrset->size) - rrset->size);
}

static void
put_set(struct image_out *out, const struct builder *b, uint32_t set,
    size_t back)
{
	uint32_t first = BUILD_AT(b, const struct build_set, set)->first;
	uint32_t origins[IMAGE_ORIGINS];
	struct image_set head = { .back = (uint8_t)(back / 4),
		.origins = origins_of(b, set, origins) };
	const struct build_rrset *rrset;
	uint32_t handle;

	for (handle = first; handle != 0; handle = rrset->next) {
		rrset = BUILD_AT(b, const struct build_rrset, handle);
		head.count++;
	}
	memcpy(reserve(out, sizeof(head)), &head, sizeof(head));
	for (handle = first; handle != 0; handle = rrset->next) {
		rrset = BUILD_AT(b, const struct build_rrset, handle);
		put_rrset(out, b, rrset);
	}
	put(out, origins, head.origins * sizeof(uint32_t));
}

static void
put_node(struct image_out *out, const struct builder *b, uint32_t handle)
{
	const struct build_node *node =
	    BUILD_AT(b, const struct build_node, handle);
	const size_t octets = node_octets(node);
	struct image_node head = {
		.line = node->line,
		.source = node->file,
		.flags = node->flags,
		.length = node->length,
	};
	uint8_t *place = reserve(out, octets);

	if (node->set != 0)
		head.set = BUILD_AT(b, const struct build_set,
		    node->set)->image;
	memset(place + octets - 4, 0, 4);
	memcpy(place, &head, sizeof(head));
	memcpy(place + sizeof(head), node->octets, node->length);
	if (has_own_set(b, node, handle))
		put_set(out, b, node->set, octets);
}

static void
put_nodes(struct image_out *out, const struct plan *plan,
    const struct builder *b)
{
	for (size_t i = 0; i >> plan->header.slot_bits == 0; i++) {
		prefetch(plan, b, i);
		if (plan->slots[i].node != 0)
			put_node(out, b, plan->slots[i].node);
	}
}

static int
write_image(const struct plan *plan, const struct builder *b, int fd)
{
	const size_t unhashed = offsetof(struct image_header, wildcard_labels);
	struct image_header header = plan->header;
	struct image_out *out = calloc(1, sizeof(*out));
	int error = -ENOMEM;

	if (out == NULL)
		return -ENOMEM;
	out->fd = fd;
	out->hash = XXH3_createState();
	if (out->hash == NULL || XXH3_64bits_reset(out->hash) == XXH_ERROR)
		goto out;
	if (XXH3_64bits_update(out->hash, (const uint8_t *)&header + unhashed,
	    sizeof(header) - unhashed) == XXH_ERROR)
		goto out;
	out->offset = sizeof(header);
	put_strings(out, b, &header);
	put(out, plan->filters.tails.words,
	    image_filter_octets(header.tail_bits));
	put(out, plan->filters.heads.words,
	    image_filter_octets(header.head_bits));
	put(out, b->policy.octets, b->policy.size);
	put_zeros(out, image_pad8(b->policy.size) - b->policy.size);
	for (size_t i = 0; i >> plan->header.slot_bits == 0; i++) {
		struct image_slot slot = { 0, 0 };

		if (plan->slots[i].node != 0)
			slot = (struct image_slot){ plan->slots[i].tag,
				plan->slots[i].at };
		memcpy(reserve(out, sizeof(slot)), &slot, sizeof(slot));
	}
	put_nodes(out, plan, b);
	flush(out);
	assert(out->error != 0 || out->offset == header.total_size);
	/* The header comes last, so that a half-written image is invalid. */
	header.checksum = XXH3_64bits_digest(out->hash);
	write_at(out, &header, sizeof(header), 0);
	error = out->error;
	if (error == 0 && ftruncate(fd, (off_t)header.total_size) != 0)
		error = -errno;
out:
	(void)XXH3_freeState(out->hash);
	free(out);
	return error;
}

int
builder_write(struct builder *b, int fd)
{
	const struct mesh *mesh = b->mesh;
	struct plan plan = {
		.header = {
			.version = IMAGE_VERSION,
			.header_size = sizeof(struct image_header),
			.loaded = !b->unloaded,
			.search_count = (uint8_t)mesh->search_count,
			.zone_count = (uint8_t)mesh->zone_count,
			.source_count = (uint32_t)file_count(b),
		},
	};
	int error;

	memcpy(plan.header.magic, IMAGE_MAGIC, sizeof(plan.header.magic));
	build_choose_families(b);
	build_sweep(b);
	error = build_non_terminals(b);
	if (error == 0)
		error = plan_size(&plan, b);
	if (error == 0)
		error = build_filters_make(&plan.filters, b);
	if (error == 0) {
		plan_slots(&plan, b);
		error = plan_offsets(&plan, b);
	}
	if (error == 0) {
		const struct build_node *node;

		/* Offsets of every set, which lies behind its node. */
		for (uint32_t handle = b->first_node; handle != 0;
		    handle = node->next) {
			struct build_set *set;

			node = BUILD_AT(b, const struct build_node, handle);
			if (!has_own_set(b, node, handle))
				continue;
			set = BUILD_AT(b, struct build_set, node->set);
			set->image = plan.slots[set->image].at +
			    (uint32_t)node_octets(node);
		}
		error = write_image(&plan, b, fd);
	}
	free(plan.filters.tails.words);
	free(plan.filters.heads.words);
	free(plan.slots);
	return error;
}
