/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles a policy: names into one table, the rest of each rule as a record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/rules.h"
#include "policy/match/build_state.h"

/* Lists of rules that are found by user or group, and of those found by nothing. */

static enum found_by
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

/* Adds a rule's users or groups to entries, if it is found by them. */
static void
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

/* The lists of rules for all users and groups of entries, and their table. */
static void
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
static void
build_others(struct builder *b)
{
	size_t count = AREA_ITEMS(&b->others, struct section_code);

	if (count > 0)
		b->header.others = build_list(b, AREA_AT(&b->others,
		    struct section_code, 0), &count);
}

static void
add_name(struct builder *b, const struct policy_name *name, uint32_t code)
{
	const struct build_set *set;

	if (name->kind != POLICY_SET) {
		build_entry_add(b, build_name_get(b, &name->name), name->kind,
		    code, 0);
		return;
	}
	set = &b->sets[name->set];
	for (size_t i = 0; i < build_set_count(set) && b->error == 0; i++) {
		const struct set_name *one =
		    AREA_AT(&set->names, const struct set_name, i);

		build_entry_add(b, one->name, one->kind, code, 0);
	}
}

static void
add_span(struct builder *b, const struct policy_span *span, uint32_t code)
{
	for (uint32_t i = 0; i < span->count && b->error == 0; i++)
		add_name(b, &b->policy->names[span->first + i], code);
}

/* Whether the file is a zone of policies; else it has names. */
static bool
is_zone(const struct policy *policy, size_t set)
{
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].zone == set + 1)
			return true;
	return false;
}

/*
 * Names that stand in two files: the rule that comes first has them, whatever
 * the other's says.
 */
static void
check_overlaps(struct builder *b)
{
	const struct policy *policy = b->policy;
	uint32_t *owner = calloc(AREA_ITEMS(&b->names, struct build_name) + 1,
	    2 * sizeof(*owner));		/* exact, and those below */

	if (owner == NULL)
		b->error = -ENOMEM;
	for (uint32_t i = 0; i < policy->set_count && b->error == 0; i++) {
		const struct build_set *set = &b->sets[i];
		uint32_t other = 0;
		size_t both = 0;

		for (size_t k = 0; k < build_set_count(set); k++) {
			const struct set_name *one =
			    AREA_AT(&set->names, const struct set_name, k);
			uint32_t *place = &owner[2 * one->name +
			    (one->kind != POLICY_EXACT)];

			if (*place == 0)
				*place = i + 1;
			if (*place == i + 1)
				continue;
			both++;
			other = *place;
		}
		if (both > 0)
			diag_add(b->diag, DIAG_WARNING, policy->sets[i].file,
			    policy->sets[i].line, "policy: %zu names of %s are "
			    "in %s, too; if both are in rules, the first of "
			    "these has them: take them out of one", both,
			    policy->sets[i].path, policy->sets[other - 1].path);
	}
	free(owner);
}

/*
 * What is wrong between begin_file() and end_file() is wrong with that file; only
 * a lack of memory is not.
 */
static struct diag *
begin_file(struct builder *b, size_t set)
{
	struct diag *outer = b->diag;

	b->diag = b->files[set].diag;
	return outer;
}

static void
end_file(struct builder *b, size_t set, struct diag *outer)
{
	if (b->error == -E2BIG) {
		diag_add(b->diag, DIAG_ERROR, b->files[set].text.path, 0,
		    "is too large: rules have room for 4 GiB");
		b->error = 0;
	}
	b->file_errors += b->diag->errors;
	b->diag = outer;
}

static void
read_set(struct builder *b, size_t set)
{
	struct rules_file *file = &b->files[set];
	struct diag *outer;

	if (file->text.data == NULL)
		return;
	outer = begin_file(b, set);
	build_set_read(b, &b->sets[set], &file->text);
	file->names = b->sets[set].distinct;
	end_file(b, set, outer);
}

static void
read_sets(struct builder *b)
{
	const struct policy *policy = b->policy;

	b->sets = calloc(policy->set_count + 1, sizeof(*b->sets));
	if (b->sets == NULL)
		b->error = -ENOMEM;
	for (size_t i = 0; i < policy->set_count && b->error == 0; i++)
		if (!is_zone(policy, i))
			read_set(b, i);
	if (b->error == 0 && policy->set_count > 1)
		check_overlaps(b);
}

static void
add_rule(struct builder *b, struct area *id_entries,
    const struct policy_rule *rule, uint32_t i)
{
	const uint32_t number = build_rule_add(b, rule,
	    rule->addresses.count > 0 ?
	    &b->policy->addresses[rule->addresses.first] : NULL, i);
	struct section_code *code;

	if (number == 0)
		return;
	/* A rewrite without names is for those that it rewrites. */
	add_span(b, &rule->match.names, RULES_CODE(number, 0));
	add_span(b, &rule->not.names, RULES_CODE(number, 1));
	if (rule->match.names.count == 0 && rule->action == RULE_REWRITE)
		add_name(b, &rule->from, RULES_CODE(number, 0));
	build_ids_add(b, id_entries, rule, number);
	if (build_found_by(rule) != BY_NOTHING)
		return;
	code = build_grow(b, &b->others, sizeof(*code));
	if (code != NULL)
		code->code = RULES_CODE(number, 0);
}

/* Whether one of these files is not loaded. */
static bool
is_unloaded(const struct builder *b, const struct policy_span *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		const struct policy_name *name =
		    &b->policy->names[names->first + i];

		if (name->kind == POLICY_SET &&
		    b->files[name->set].text.data == NULL)
			return true;
	}
	return false;
}

/* Whether what a rule decides is never less than what there is without it. */
static bool
allows(const struct policy_rule *rule)
{
	return rule->action == RULE_ANSWER || rule->action == RULE_PASS;
}

/*
 * policy_unloaded = "refuse": what the file's rules could decide is refused, with
 * all their other conditions.  A rule that allows needs its names to do so, one
 * that only observes, counts or limits decides nothing.  No name of the mesh is
 * refused for want of a file, unless the rule is for the mesh's names.
 */
static void
add_refusal(struct builder *b, struct area *id_entries,
    const struct policy_rule *entry, uint32_t i)
{
	struct policy_rule rule = *entry;

	if (b->policy->refuse_unloaded == 0 || entry->observe != 0 ||
	    (entry->zone == 0 && (entry->action == RULE_NOTHING ||
	    allows(entry))))
		return;
	rule.zone = 0;
	rule.match.names = rule.addresses = (struct policy_span){ .count = 0 };
	rule.action = RULE_REFUSE;
	rule.rate.limit = 0;
	if (rule.match.source == 0)
		rule.match.source = RULE_OTHER;
	add_rule(b, id_entries, &rule, i);
}

static void
add_zone(struct builder *b, struct area *id_entries, uint32_t i)
{
	const struct policy_rule *rule = &b->policy->rules[i];
	const uint32_t set = rule->zone - 1;
	struct diag *outer;

	if (b->files[set].text.data == NULL) {
		add_refusal(b, id_entries, rule, i);
		return;
	}
	outer = begin_file(b, set);
	build_zone_add(b, i);
	end_file(b, set, outer);
}

/* How many rules a list makes a question try, and the last of them. */
static size_t
tries_of(const struct builder *b, const struct section_span *span,
    uint32_t *last)
{
	size_t tries = 0;

	for (uint32_t i = 0; i < span->count; i++) {
		const uint32_t code = AREA_AT(&b->areas[AREA_LISTS],
		    const struct section_code, span->first + i)->code;

		tries += (code & 1) == 0;
		if ((code & 1) == 0)
			*last = code >> 1;
	}
	return tries;
}

static const struct section_span *
longer(const struct section_span *a, const struct section_span *b)
{
	return a->count >= b->count ? a : b;
}

static void
refuse_tries(struct builder *b, size_t tries, uint32_t from)
{
	const struct policy_rule *rule = &b->policy->rules[from];

	diag_add(b->diag, DIAG_ERROR, rule->file, rule->line, "policy: %zu rules "
	    "would have to be tried for one question, of which rule \"%s\" is "
	    "the last; at most %d: give them names, or users or groups, or make "
	    "one rule of several", tries, rule->name, RULES_TRIES);
}

#define LIST_KINDS	4	/* by name, enum section_id_kind, others */

/*
 * Refuses what would make a question try more rules than RULES_TRIES: by name,
 * by user, by group, and those that all questions try.
 */
static void
check_tries(struct builder *b)
{
	const size_t nodes = AREA_ITEMS(&b->areas[AREA_NODES],
	    struct section_node);
	const size_t ids = AREA_ITEMS(&b->areas[AREA_IDS], struct section_id);
	size_t most[LIST_KINDS] = { 0 }, tries = 0;
	uint32_t last = 0, rule = 0;

	for (size_t i = 0; i < nodes + ids + 1; i++) {
		const struct section_node *node = i < nodes ?
		    AREA_AT(&b->areas[AREA_NODES], struct section_node, i) :
		    NULL;
		const struct section_id *id = node == NULL && i < nodes + ids ?
		    AREA_AT(&b->areas[AREA_IDS], struct section_id,
		    i - nodes) : NULL;
		const size_t kind = node != NULL ? 0 : id != NULL ? id->kind :
		    3;
		const size_t n = tries_of(b, node != NULL ?
		    longer(&node->at, &node->below) : id != NULL ? &id->list :
		    &b->header.others, &last);

		if (n > most[kind]) {
			most[kind] = n;
			rule = last;
		}
	}
	for (size_t i = 0; i < LIST_KINDS; i++)
		tries += most[i];
	if (tries > RULES_TRIES && rule > 0)
		refuse_tries(b, tries, *AREA_AT(&b->from, const uint32_t,
		    rule - 1));
}

/* All areas behind the header. */
static void
join(struct builder *b, uint8_t **octets, size_t *size)
{
	struct section_header *h = &b->header;
	uint64_t at = section_pad8(sizeof(*h));
	uint8_t *out;

	memcpy(h->magic, SECTION_MAGIC, sizeof(h->magic));
	h->version = SECTION_VERSION;
	h->header_size = sizeof(*h);
	h->rule_count = (uint32_t)AREA_ITEMS(&b->areas[AREA_RULES],
	    struct section_rule);
	for (size_t i = 0; i < RULES_AREAS; i++) {
		h->offsets[i] = at;
		h->sizes[i] = b->areas[i].size;
		at += section_pad8(b->areas[i].size);
	}
	h->total_size = at;
	out = calloc(1, at);
	if (out == NULL) {
		b->error = -ENOMEM;
		return;
	}
	memcpy(out, h, sizeof(*h));
	for (size_t i = 0; i < RULES_AREAS; i++)
		if (b->areas[i].size > 0)
			memcpy(out + h->offsets[i], b->areas[i].octets,
			    b->areas[i].size);
	*octets = out;
	*size = at;
}

static void
run(struct builder *b, uint8_t **octets, size_t *size)
{
	const size_t errors = b->diag->errors;
	struct area ids = { .octets = NULL };
	const struct policy *policy;

	/* A name at offset 0 would be none. */
	(void)build_octets(b, "", 1, 1);
	read_sets(b);
	policy = b->policy;
	for (uint32_t i = 0; i < policy->rule_count && b->error == 0; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->zone != 0) {
			add_zone(b, &ids, i);
			continue;
		}
		/* Without its exceptions it would allow these, too. */
		if (policy->refuse_unloaded != 0 && rule->observe == 0 &&
		    allows(rule) && is_unloaded(b, &rule->not.names))
			continue;
		add_rule(b, &ids, rule, i);
		if (is_unloaded(b, &rule->match.names))
			add_refusal(b, &ids, rule, i);
	}
	if (b->error == 0)
		build_ids(b, &ids);
	if (b->error == 0)
		build_others(b);
	if (b->error == 0)
		build_names(b);
	if (b->error == 0)
		check_tries(b);
	if (b->error == 0 && b->diag->errors > errors)
		b->error = -EINVAL;
	if (b->error == 0 && b->file_errors > 0)
		b->error = -EBADMSG;
	/* A zone of policies may have none. */
	if (b->error == 0 && b->areas[AREA_RULES].size > 0)
		join(b, octets, size);
	free(ids.octets);
}

int
rules_build(const struct policy *policy, const char *path,
    struct rules_file *files, struct diag *diag, uint8_t **octets,
    size_t *size)
{
	struct builder b = { .policy = policy, .file = path, .diag = diag,
		.files = files };

	*octets = NULL;
	*size = 0;
	if (policy->rule_count == 0)
		return 0;
	run(&b, octets, size);
	for (size_t i = 0; i < RULES_AREAS; i++)
		free(b.areas[i].octets);
	for (size_t i = 0; b.sets != NULL && i < b.policy->set_count; i++)
		free(b.sets[i].names.octets);
	free(b.sets);
	free(b.names.octets);
	free(b.entries.octets);
	free(b.spans.octets);
	free(b.zones.octets);
	free(b.from.octets);
	free(b.others.octets);
	free(b.by_name.slots);
	free(b.by_list.slots);
	free(b.by_records.slots);
	if (b.error == -E2BIG) {
		diag_add(diag, DIAG_ERROR, path, 0, "policy: too large: the "
		    "names of its rules would exceed 4 GiB");
		return -EINVAL;
	}
	return b.error;
}
