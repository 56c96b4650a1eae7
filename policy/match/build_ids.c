/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of rules that are found by user or group, and of those found by nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/build_state.h"

enum found_by
build_found_by(const struct policy_rule *rule)
{
	return rule->match.names.count > 0 || rule->zone != 0 ||
	    rule->action == RULE_REWRITE ?
	    BY_NAME : rule->match.users.count > 0 ? BY_USER :
	    rule->match.groups.count > 0 ? BY_GROUP : BY_NOTHING;
}

/* A rule and one of its users or groups. */
struct id_entry {
	uint32_t kind, id, code;
};

static int
compare_ids(const void *left, const void *right)
{
	const struct id_entry *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->code < b->code ? -1 : a->code > b->code;
}

void
build_ids_add(struct builder *b, struct area *entries, const struct policy_rule *rule,
    uint32_t number)
{
	const enum found_by by = build_found_by(rule);
	const struct policy_span *span = by == BY_USER ? &rule->match.users :
	    &rule->match.groups;

	for (uint32_t i = 0; by != BY_NAME && by != BY_NOTHING &&
	    i < span->count; i++) {
		struct id_entry *entry = build_grow(b, entries, sizeof(*entry));

		if (entry == NULL)
			return;
		*entry = (struct id_entry){ by == BY_USER ? ID_USER : ID_GROUP,
			b->policy->numbers[span->first + i],
			RULES_CODE(number, 0) };
	}
}

/* The lists of rules for each user and group, behind each other. */
static size_t
make_id_lists(struct builder *b, const struct area *entries,
    struct section_id *ids)
{
	const struct id_entry *e = (const void *)entries->octets;
	const size_t count = AREA_ITEMS(entries, struct id_entry);
	struct section_code *codes = calloc(count + 1, sizeof(*codes));
	size_t found = 0;

	if (codes == NULL)
		b->error = -ENOMEM;
	for (size_t i = 0; i < count && b->error == 0; found++) {
		const size_t first = i;
		size_t length;

		for (; i < count && e[i].kind == e[first].kind &&
		    e[i].id == e[first].id; i++)
			codes[i - first] = (struct section_code){ e[i].code, 0 };
		length = i - first;
		ids[found].kind = e[first].kind;
		ids[found].id = e[first].id;
		ids[found].list = build_list(b, codes, &length);
	}
	free(codes);
	return found;
}

static bool
place_ids(const struct section_id *ids, size_t count, struct section_id *slots,
    uint32_t mask)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t start = section_id_hash(ids[i].kind, ids[i].id);
		uint32_t run = 0;

		while (slots[(start + run) & mask].kind != ID_NONE)
			if (++run == SECTION_RUN || run > mask)
				return false;
		slots[(start + run) & mask] = ids[i];
	}
	return true;
}

static void
make_id_slots(struct builder *b, const struct section_id *ids, size_t count)
{
	struct area *area = &b->areas[AREA_IDS];
	uint32_t bits = 1;

	while ((size_t)1 << bits < 2 * count)
		bits++;
	for (; bits <= SECTION_SLOT_BITS_MAX; bits++) {
		const size_t size = sizeof(*ids) << bits;

		if (build_grow(b, area, size - area->size) == NULL)
			return;
		memset(area->octets, 0, size);
		b->header.id_bits = bits;
		if (place_ids(ids, count, AREA_AT(area, struct section_id, 0),
		    ((uint32_t)1 << bits) - 1))
			return;
	}
	b->error = -E2BIG;
}

void
build_ids(struct builder *b, struct area *entries)
{
	const size_t count = AREA_ITEMS(entries, struct id_entry);
	struct section_id *ids = calloc(count + 1, sizeof(*ids));

	if (ids == NULL)
		b->error = -ENOMEM;
	if (b->error == 0) {
		if (count > 1)
			qsort(entries->octets, count, sizeof(struct id_entry),
			    compare_ids);
		make_id_slots(b, ids, make_id_lists(b, entries, ids));
	}
	free(ids);
}

/* Rules that each question has to try. */
void
build_others(struct builder *b)
{
	size_t count = AREA_ITEMS(&b->others, struct section_code);

	if (count > 0)
		b->header.others = build_list(b, AREA_AT(&b->others,
		    struct section_code, 0), &count);
}
