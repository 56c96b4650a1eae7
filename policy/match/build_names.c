/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of rules: collected, then laid out as the section's hash table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/build_state.h"

/* Areas of a section that grow while it is built. */

void *
build_grow(struct builder *b, struct area *area, size_t octets)
{
	const size_t wanted = area->size + octets;
	uint8_t *place;

	if (b->error != 0)
		return NULL;
	if (wanted > UINT32_MAX) {
		b->error = -E2BIG;
		return NULL;
	}
	if (wanted > area->room || area->octets == NULL) {
		const size_t room = wanted + area->room / 2 + 64;
		uint8_t *grown = realloc(area->octets, room);

		if (grown == NULL) {
			b->error = -ENOMEM;
			return NULL;
		}
		area->octets = grown;
		area->room = room;
	}
	place = area->octets + area->size;
	memset(place, 0, octets);
	area->size = wanted;
	return place;
}

struct section_span
build_octets(struct builder *b, const void *octets, size_t size, size_t items)
{
	struct area *area = &b->areas[AREA_OCTETS];
	const struct section_span span = { (uint32_t)area->size,
		(uint32_t)items };
	void *place = build_grow(b, area, size);

	if (place != NULL && size > 0)
		memcpy(place, octets, size);
	return span;
}

#define SEEDS		16	/* tried, before the table grows */
#define FILTER_PER_NAME	16	/* bits */

static const uint8_t *
octets_at(const struct builder *b, uint32_t at)
{
	return b->areas[AREA_OCTETS].octets + at;
}

static struct build_name *
name_at(const struct builder *b, uint32_t number)
{
	return AREA_AT(&b->names, struct build_name, number - 1);
}

bool
build_index_grow(struct builder *b, struct build_index *index,
    uint64_t (*hash)(const struct builder *, uint32_t))
{
	const size_t size = index->slots == NULL ? 256 : 2 * (index->mask + 1);
	uint32_t *slots;

	if (index->slots != NULL && 2 * (index->count + 1) <= index->mask)
		return true;
	slots = calloc(size, sizeof(*slots));
	if (slots == NULL) {
		b->error = -ENOMEM;
		return false;
	}
	for (size_t i = 0; index->slots != NULL && i <= index->mask; i++) {
		size_t at;

		if (index->slots[i] == 0)
			continue;
		at = (size_t)hash(b, index->slots[i]) & (size - 1);
		while (slots[at] != 0)
			at = (at + 1) & (size - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->mask = size - 1;
	return true;
}

static uint64_t
name_hash(const struct builder *b, uint32_t number)
{
	const uint8_t *octets = octets_at(b, name_at(b, number)->name);

	return section_hash(octets + 1, octets[0], 0);
}

/* Its place in the index, where 0 stands if there is no such name. */
static uint32_t *
name_place(const struct builder *b, const uint8_t *octets, size_t length)
{
	size_t at = (size_t)section_hash(octets, length, 0) & b->by_name.mask;

	for (;; at = (at + 1) & b->by_name.mask) {
		const uint32_t number = b->by_name.slots[at];
		const uint8_t *other;

		if (number == 0)
			return &b->by_name.slots[at];
		other = octets_at(b, name_at(b, number)->name);
		if (other[0] == length && memcmp(other + 1, octets,
		    length) == 0)
			return &b->by_name.slots[at];
	}
}

/* The same, 0 if there is none; the name is a suffix in wire format. */
static uint32_t
build_name_find(const struct builder *b, const uint8_t *octets, size_t length)
{
	return b->by_name.slots != NULL ? *name_place(b, octets, length) : 0;
}

uint32_t
build_name_get(struct builder *b, const struct dns_name *name)
{
	struct build_name *fresh;
	uint32_t *place;

	if (b->error != 0 || !build_index_grow(b, &b->by_name, name_hash))
		return 0;
	place = name_place(b, name->octets, name->length);
	if (*place != 0)
		return *place;
	fresh = build_grow(b, &b->names, sizeof(*fresh));
	if (fresh == NULL)
		return 0;
	fresh->labels = name->labels;
	fresh->name = build_octets(b, &name->length, 1, 1).first;
	(void)build_octets(b, name->octets, name->length, 1);
	b->by_name.count++;
	return *place = (uint32_t)AREA_ITEMS(&b->names, struct build_name);
}

void
build_entry_add(struct builder *b, uint32_t number, uint32_t kind,
    uint32_t code, uint32_t records)
{
	struct build_entry *entry = build_grow(b, &b->entries, sizeof(*entry));
	struct build_name *name;

	if (entry == NULL || number == 0)
		return;
	name = name_at(b, number);
	*entry = (struct build_entry){ { code, records }, name->first, kind };
	name->first = (uint32_t)AREA_ITEMS(&b->entries, struct build_entry);
	name->has_below |= kind != POLICY_EXACT;
}

void
build_resets_add(struct builder *b, uint32_t number, uint32_t zone)
{
	const struct build_name *own = AREA_AT(&b->names, struct build_name,
	    number - 1);
	const uint8_t *octets = b->areas[AREA_OCTETS].octets + own->name;
	struct dns_name name, suffix;
	unsigned int above = own->labels;

	if (name_read_lower(&name, octets + 1, octets[0]) < 0)
		return;
	for (uint32_t found = 0; found == 0; ) {
		size_t start;

		if (above-- == 0)
			return;
		start = name_suffix_offset(&name, above);
		found = build_name_find(b, name.octets + start,
		    name.length - start);
		if (found != 0 && !AREA_AT(&b->names, struct build_name,
		    found - 1)->has_below)
			found = 0;
	}
	for (unsigned int n = name.labels; n > above && b->error == 0; n--) {
		const size_t start = name_suffix_offset(&name, n);

		if (name_read_lower(&suffix, name.octets + start,
		    name.length - start) == 0)
			build_entry_add(b, build_name_get(b, &suffix),
			    BUILD_RESET, zone, 0);
	}
}

enum policy_name_kind
build_kind_take(struct dns_name *name)
{
	if (name->labels == 0 || memcmp(name->octets, "\001*", 2) != 0)
		return POLICY_EXACT;
	name->length = (uint8_t)(name->length - 2);
	name->labels--;
	memmove(name->octets, name->octets + 2, name->length);
	return POLICY_BELOW;
}

int
build_compare_numbers(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left;
	const uint32_t b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* By code: of one code and one name there are no two answers. */
static int
compare_codes(const void *left, const void *right)
{
	const struct section_code *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

static uint64_t
list_hash(const struct builder *b, uint32_t number)
{
	const struct section_span *span =
	    AREA_AT(&b->spans, struct section_span, number - 1);

	return XXH3_64bits(AREA_AT(&b->areas[AREA_LISTS], struct section_code,
	    span->first), span->count * sizeof(struct section_code));
}

static bool
is_list(const struct builder *b, uint32_t number,
    const struct section_code *codes, size_t count)
{
	const struct section_span *span =
	    AREA_AT(&b->spans, struct section_span, number - 1);

	return span->count == count && memcmp(AREA_AT(&b->areas[AREA_LISTS],
	    struct section_code, span->first), codes, count * sizeof(*codes)) == 0;
}

struct section_span
build_list(struct builder *b, struct section_code *codes, size_t *count)
{
	struct area *lists = &b->areas[AREA_LISTS];
	struct section_span span = { .count = 0 }, *noted;
	struct section_code *room;
	size_t kept = 0, at;

	if (*count > 1)
		qsort(codes, *count, sizeof(*codes), compare_codes);
	for (size_t i = 0; i < *count; i++)
		if (kept == 0 || codes[i].code != codes[kept - 1].code)
			codes[kept++] = codes[i];
	*count = kept;
	if (kept == 0 || b->error != 0 ||
	    !build_index_grow(b, &b->by_list, list_hash))
		return span;
	at = (size_t)XXH3_64bits(codes, kept * sizeof(*codes)) &
	    b->by_list.mask;
	for (; b->by_list.slots[at] != 0; at = (at + 1) & b->by_list.mask)
		if (is_list(b, b->by_list.slots[at], codes, kept))
			return *AREA_AT(&b->spans, struct section_span,
			    b->by_list.slots[at] - 1);
	span.first = (uint32_t)AREA_ITEMS(lists, struct section_code);
	span.count = (uint32_t)kept;
	room = build_grow(b, lists, kept * sizeof(*room));
	noted = build_grow(b, &b->spans, sizeof(*noted));
	if (room == NULL || noted == NULL)
		return (struct section_span){ .count = 0 };
	memcpy(room, codes, kept * sizeof(*room));
	*noted = span;
	b->by_list.slots[at] =
	    (uint32_t)AREA_ITEMS(&b->spans, struct section_span);
	b->by_list.count++;
	return span;
}

/* What names above say about names below them: the nearest one's list. */
static struct section_span
inherited(const struct builder *b, const struct build_name *name)
{
	const uint8_t *octets = octets_at(b, name->name);
	const size_t length = octets[0];
	size_t start = 0;

	octets++;
	for (unsigned int labels = name->labels; labels-- > 0;) {
		uint32_t above;

		start += 1u + octets[start];
		if ((b->header.below_labels[labels / 64] >> labels % 64 &
		    1) == 0)
			continue;
		above = *name_place(b, octets + start, length - start);
		if (above != 0 && name_at(b, above)->has_below)
			return AREA_AT(&b->areas[AREA_NODES],
			    struct section_node,
			    name_at(b, above)->node)->below;
	}
	return (struct section_span){ .count = 0 };
}

/* Codes of a list while it is put together. */
struct codes {
	struct section_code *codes;
	size_t count, room;
};

static void
add_code(struct builder *b, struct codes *codes,
    const struct section_code *code)
{
	if (codes->count == codes->room) {
		const size_t room = codes->room * 2 + 64;
		struct section_code *grown = reallocarray(codes->codes, room,
		    sizeof(*grown));

		if (grown == NULL) {
			b->error = -ENOMEM;
			return;
		}
		codes->codes = grown;
		codes->room = room;
	}
	codes->codes[codes->count++] = *code;
}

/* Whether the code is of a zone of policies that has the name: RFC 4592. */
static bool
is_reset(const struct builder *b, const struct build_name *name, uint32_t code)
{
	for (uint32_t i = name->first; i != 0;) {
		const struct build_entry *entry =
		    AREA_AT(&b->entries, struct build_entry, i - 1);

		if (entry->kind == BUILD_RESET) {
			const struct build_zone *zone = AREA_AT(&b->zones,
			    struct build_zone, entry->code.code - 1);

			if (code >> 1 >= zone->first && code >> 1 <= zone->last)
				return true;
		}
		i = entry->next;
	}
	return false;
}

/* The list of the name's own entries of one side, and what it inherits. */
static struct section_span
make_list(struct builder *b, const struct build_name *name, bool below,
    const struct section_span *above, struct codes *codes)
{
	codes->count = 0;
	for (uint32_t i = 0; i < above->count; i++) {
		/* A copy: the list may move. */
		const struct section_code code = *AREA_AT(&b->areas[AREA_LISTS],
		    struct section_code, above->first + i);

		if (!is_reset(b, name, code.code))
			add_code(b, codes, &code);
	}
	for (uint32_t i = name->first; i != 0;) {
		const struct build_entry *entry =
		    AREA_AT(&b->entries, struct build_entry, i - 1);

		if (entry->kind != BUILD_RESET && entry->kind !=
		    (uint32_t)(below ? POLICY_EXACT : POLICY_BELOW))
			add_code(b, codes, &entry->code);
		i = entry->next;
	}
	return build_list(b, codes->codes, &codes->count);
}

/* The node of these lists; names of one file have one. */
static uint32_t
node_of(struct builder *b, const struct section_node *node)
{
	struct area *nodes = &b->areas[AREA_NODES];
	const size_t count = AREA_ITEMS(nodes, struct section_node);
	struct section_node *fresh;

	if (count > 0 && memcmp(AREA_AT(nodes, struct section_node, count - 1),
	    node, sizeof(*node)) == 0)
		return (uint32_t)count - 1;
	fresh = build_grow(b, nodes, sizeof(*fresh));
	if (fresh != NULL)
		*fresh = *node;
	return (uint32_t)count;
}

static void
make_node(struct builder *b, struct build_name *name, struct codes *codes)
{
	const struct section_span above = inherited(b, name);
	const struct section_node node = {
		.at = make_list(b, name, false, &above, codes),
		.below = make_list(b, name, true, &above, codes),
	};

	name->node = node_of(b, &node);
}

/* Names above come before those below them, whose lists they go into. */
static void
make_nodes(struct builder *b)
{
	const size_t count = AREA_ITEMS(&b->names, struct build_name);
	size_t begin[NAME_MAX_LABELS + 2] = { 0 };
	uint32_t *order = calloc(count + 1, sizeof(*order));
	struct codes codes = { .codes = NULL };

	if (order == NULL) {
		b->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 1; i <= count; i++)
		begin[name_at(b, i)->labels + 1]++;
	for (size_t n = 1; n < NAME_MAX_LABELS + 2; n++)
		begin[n] += begin[n - 1];
	for (uint32_t i = 1; i <= count; i++)
		order[begin[name_at(b, i)->labels]++] = i;
	for (size_t i = 0; i < count && b->error == 0; i++)
		make_node(b, name_at(b, order[i]), &codes);
	free(codes.codes);
	free(order);
}

static void
note_depths(struct builder *b)
{
	const size_t count = AREA_ITEMS(&b->names, struct build_name);

	for (uint32_t i = 1; i <= count; i++) {
		const struct build_name *name = name_at(b, i);

		if (name->has_below)
			b->header.below_labels[name->labels / 64] |=
			    (uint64_t)1 << name->labels % 64;
	}
}

/* False: some name would be too far from where its search begins. */
static bool
place_names(const struct builder *b, struct section_slot *slots,
    uint32_t mask, uint32_t seed)
{
	const size_t count = AREA_ITEMS(&b->names, struct build_name);

	for (uint32_t i = 1; i <= count; i++) {
		const struct build_name *name = name_at(b, i);
		const uint8_t *octets = octets_at(b, name->name);
		const uint64_t hash = section_hash(octets + 1, octets[0],
		    seed);
		uint32_t run = 0;

		while (slots[((uint32_t)hash + run) & mask].name != 0)
			if (++run == SECTION_RUN || run > mask)
				return false;
		slots[((uint32_t)hash + run) & mask] = (struct section_slot){
		    (uint32_t)(hash >> 32), name->name, name->node };
	}
	return true;
}

/* A table that is at most half full, and a seed that spreads the names. */
static void
make_slots(struct builder *b)
{
	const size_t count = AREA_ITEMS(&b->names, struct build_name);
	struct area *area = &b->areas[AREA_SLOTS];
	struct section_header *h = &b->header;

	for (h->slot_bits = 1; (size_t)1 << h->slot_bits < 2 * count;)
		h->slot_bits++;
	for (; h->slot_bits <= SECTION_SLOT_BITS_MAX; h->slot_bits++) {
		const size_t size = sizeof(struct section_slot) <<
		    h->slot_bits;
		void *slots = build_grow(b, area, size - area->size);

		for (h->seed = 0; slots != NULL && h->seed < SEEDS; h->seed++) {
			memset(area->octets, 0, size);
			if (place_names(b, AREA_AT(area, struct section_slot,
			    0), ((uint32_t)1 << h->slot_bits) - 1, h->seed))
				return;
		}
		if (slots == NULL)
			return;
	}
	b->error = -E2BIG;
}

static void
make_filter(struct builder *b)
{
	const size_t count = AREA_ITEMS(&b->names, struct build_name);
	struct section_header *h = &b->header;
	uint64_t *filter;

	for (h->filter_bits = 6; (size_t)1 << h->filter_bits <
	    FILTER_PER_NAME * count && h->filter_bits <
	    SECTION_FILTER_BITS_MAX;)
		h->filter_bits++;
	filter = build_grow(b, &b->areas[AREA_FILTER],
	    (size_t)1 << (h->filter_bits - 3));
	for (uint32_t i = 1; i <= count && filter != NULL; i++) {
		const uint8_t *octets = octets_at(b, name_at(b, i)->name);
		const uint32_t bit = (uint32_t)(section_hash(octets + 1,
		    octets[0], h->seed) >> 32) &
		    (((uint32_t)1 << h->filter_bits) - 1);

		filter[bit / 64] |= (uint64_t)1 << bit % 64;
	}
}

void
build_names(struct builder *b)
{
	note_depths(b);
	if (b->error == 0)
		make_nodes(b);
	if (b->error == 0)
		make_slots(b);
	if (b->error == 0)
		make_filter(b);
}
