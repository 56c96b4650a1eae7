/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/builder_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolver/image/image.h"
#include "resolver/image/image_filter.h"

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

int
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

void
build_filters_free(struct build_filters *filters)
{
	free(filters->tails.words);
	free(filters->heads.words);
}
