/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/image/builder_index.h"

#include <errno.h>
#include <stdlib.h>

#define INDEX_FIRST_BITS	10

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

int
build_index_reserve(struct build_index *index)
{
	struct build_index grown = { .bits = INDEX_FIRST_BITS };

	if (index->slots != NULL) {
		if (index->count < (size_t)3 << index->bits >> 2)
			return 0;
		grown.bits = index->bits + 1;
	}
	if (grown.bits > 31)
		return -E2BIG;
	grown.slots = calloc((size_t)1 << grown.bits, sizeof(*grown.slots));
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
