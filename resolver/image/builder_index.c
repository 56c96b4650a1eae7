/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/builder_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

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
