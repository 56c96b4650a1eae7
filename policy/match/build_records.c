/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that rules answer; equal answers stand in the section once. */
#include <string.h>

#include "policy/match/build_state.h"

static struct section_rrset *
rrset_at(const struct builder *b, size_t number)
{
	return AREA_AT(&b->areas[AREA_RRSETS], struct section_rrset,
	    number - 1);
}

static uint64_t
records_hash(const struct builder *b, uint32_t number)
{
	uint64_t hash = 0;

	for (const struct section_rrset *r = rrset_at(b, number);; r++) {
		const uint32_t head[] = { r->type, r->count, r->ttl };

		hash = XXH3_64bits_withSeed(head, sizeof(head), hash);
		hash = XXH3_64bits_withSeed(b->areas[AREA_OCTETS].octets +
		    r->rdata, r->size, hash);
		if (r->is_last != 0)
			return hash;
	}
}

static bool
are_equal(const struct builder *b, uint32_t one, uint32_t other)
{
	const uint8_t *octets = b->areas[AREA_OCTETS].octets;

	for (const struct section_rrset *x = rrset_at(b, one),
	    *y = rrset_at(b, other);; x++, y++) {
		if (x->type != y->type || x->count != y->count ||
		    x->ttl != y->ttl || x->size != y->size ||
		    x->is_last != y->is_last ||
		    memcmp(octets + x->rdata, octets + y->rdata, x->size) != 0)
			return false;
		if (x->is_last != 0)
			return true;
	}
}

void
build_rrset_add(struct builder *b, const struct section_rrset *rrset,
    const uint8_t *octets)
{
	struct section_rrset *to = build_grow(b, &b->areas[AREA_RRSETS],
	    sizeof(*to));
	const uint32_t rdata = build_octets(b, octets, rrset->size, 1).first;

	if (to == NULL)
		return;
	*to = *rrset;
	to->rdata = rdata;
}

uint32_t
build_records_end(struct builder *b, size_t first)
{
	struct area *area = &b->areas[AREA_RRSETS];
	const uint32_t number = (uint32_t)first + 1;
	size_t at;

	if (b->error != 0 || AREA_ITEMS(area, struct section_rrset) == first ||
	    !build_index_grow(b, &b->by_records, records_hash))
		return 0;
	rrset_at(b, AREA_ITEMS(area, struct section_rrset))->is_last = 1;
	at = (size_t)records_hash(b, number) & b->by_records.mask;
	for (; b->by_records.slots[at] != 0; at = (at + 1) & b->by_records.mask)
		if (are_equal(b, b->by_records.slots[at], number)) {
			/* Nothing was added behind it. */
			b->areas[AREA_OCTETS].size = rrset_at(b, number)->rdata;
			area->size = first * sizeof(struct section_rrset);
			return b->by_records.slots[at];
		}
	b->by_records.slots[at] = number;
	b->by_records.count++;
	return number;
}
