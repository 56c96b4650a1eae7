/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_names.h"

#include <string.h>

#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

#define HEADER_OCTETS	12
/* Labels and pointers that an answer may have read: resolver/answer/chase.c. */
#define STEPS_MAX	65536

_Static_assert(POLICY_NAMES_MAX >= (LOOKUP_MAX_CHAIN + 2) *
    (1 + TABLE_ALIASES), "each name of a chain and those it is short for");

static bool
has(const struct policy_names *names, const struct dns_name *name)
{
	for (unsigned int i = 0; i < names->count; i++)
		if (name_equal(&names->names[i], name))
			return true;
	return false;
}

static void
add(struct policy_names *names, const struct dns_name *name)
{
	if (names->count < POLICY_NAMES_MAX && !has(names, name))
		names->names[names->count++] = *name;
}

/* Of a wildcard, the labels that it takes of the name stand before its own. */
static bool
put_front(struct dns_name *whole, const struct dns_name *name,
    unsigned int taken)
{
	const struct dns_name back = *whole;
	struct dns_name front = { .labels = (uint8_t)taken };
	size_t length = 0;

	for (unsigned int i = 0; i < taken; i++)
		length += 1u + name->octets[length];
	memcpy(front.octets, name->octets, length);
	front.octets[length] = 0;
	front.length = (uint8_t)(length + 1);
	return name_join(whole, &front, &back) == 0;
}

/* How many labels of the name its wildcard takes. */
static unsigned int
taken_of(const struct table *table, const struct dns_name *name, uint32_t node)
{
	const unsigned int own = table_labels(table, node);

	return name->labels > own ? name->labels - own : 0;
}

/* The names that the name of that node is short for. */
static void
add_aliases(struct policy_names *names, const struct table *table,
    const struct dns_name *name, const struct entry *entry)
{
	struct dns_name whole;
	bool wildcard;

	if (entry->node == 0)
		return;
	for (unsigned int i = 0; table_alias(table, entry->node, i, &whole,
	    &wildcard); i++)
		if (!wildcard || put_front(&whole, name,
		    taken_of(table, name, entry->node)))
			add(names, &whole);
}

/* What stands before the element of the search list, and what follows there. */
static bool
read_target(struct dns_name *target, const struct dns_name *name,
    const struct entry *entry)
{
	static const struct dns_name root = { .length = 1 };
	const struct dns_name *behind = entry->target_search != NULL ?
	    entry->target_search : &root;
	uint8_t octets[2 * NAME_MAX_OCTETS];

	memcpy(octets, name->octets, entry->target_length);
	memcpy(octets + entry->target_length, behind->octets, behind->length);
	return name_read_lower(target, octets,
	    (size_t)entry->target_length + behind->length) == 0;
}

void
policy_names_add(struct policy_names *names, const struct table *table,
    const struct dns_name *name)
{
	struct entry entry;

	add(names, name);
	table_find(table, name, &entry);
	/* A target is absolute: the search list is not applied to it. */
	if (entry.kind == ENTRY_EXACT || entry.kind == ENTRY_WILDCARD)
		add_aliases(names, table, name, &entry);
}

void
policy_names_add_chain(struct policy_names *names, const struct lookup *lookup)
{
	const size_t count = lookup->chain_length - lookup->has_type;
	struct dns_name target;

	for (size_t i = 0; i < count; i++)
		if (lookup->chain[i].type == TYPE_CNAME &&
		    lookup_read_target(&target, &lookup->chain[i]))
			policy_names_add(names, lookup->table, &target);
}

void
policy_names_collect(struct policy_names *names,
    const struct question *question, const struct lookup *lookup)
{
	const struct entry *entry = &lookup->entry;
	struct dns_name target;

	if (entry->kind != ENTRY_SEARCH && entry->kind != ENTRY_SEARCH_WILDCARD)
		add_aliases(names, lookup->table, &question->name, entry);
	else if (read_target(&target, &question->name, entry)) {
		add(names, &target);
		add_aliases(names, lookup->table, &target, entry);
	}
	policy_names_add_chain(names, lookup);
}

/* An answer while it is read. */
struct reading {
	const struct policy_source *source;
	const struct rules_question *asked;
	enum policy_scope scope;
	unsigned int rule;
	struct policy_found *found;
	struct policy_names names;
};

/* Judges what was read; false: it is denied. */
static bool
judge(struct reading *r)
{
	if (r->names.count > 0)
		policy_gather_names(r->source, r->asked, &r->names, r->scope,
		    r->rule, r->found);
	r->names.count = 0;
	return r->found->ruling.rule == 0;
}

/* Adds a name; more than there is room for are judged part by part. */
static bool
take(struct reading *r, struct dns_name *name)
{
	name_lower(name);
	if (name_equal(name, r->asked->name))
		return true;
	if (r->names.count == POLICY_NAMES_MAX && !judge(r))
		return false;
	add(&r->names, name);
	return true;
}

/* Header and question; the number of records of the answer section. */
static bool
read_front(struct wire_reader *w, unsigned int *answers, unsigned int *steps)
{
	struct dns_name name;
	unsigned int questions;

	wire_skip(w, 4);
	questions = wire_read_u16(w);
	*answers = wire_read_u16(w);
	wire_skip(w, 4);
	for (; questions > 0 && !w->failed; questions--) {
		if (!name_read_compressed(&name, w, w->end, steps))
			return false;
		wire_skip(w, 4);
	}
	return !w->failed;
}

/* One record; *denied if its names make more than can be kept, and are. */
static bool
read_record(struct reading *r, struct wire_reader *w, bool known,
    unsigned int *steps, bool *denied)
{
	struct dns_name owner, target;
	const uint8_t *end;
	uint16_t type, length;

	if (!name_read_compressed(&owner, w, w->end, steps))
		return false;
	type = wire_read_u16(w);
	wire_skip(w, 6);
	length = wire_read_u16(w);
	if (w->failed || length > wire_left(w))
		return false;
	end = w->pos + length;
	if (type == TYPE_CNAME &&
	    !name_read_compressed(&target, w, end, steps))
		return false;
	wire_skip(w, (size_t)(end - w->pos));
	if (!known)
		*denied = !take(r, &owner) ||
		    (type == TYPE_CNAME && !take(r, &target));
	return true;
}

/* Whether the rule has the question answered from another name. */
static bool
answers_elsewhere(const struct rules *rules, unsigned int number)
{
	struct rules_rule rule;

	if (number == 0 || number > rules_count(rules))
		return false;
	rules_get(rules, number, &rule);
	return rule.action == RULE_CNAME || rule.action == RULE_CNAME_BELOW ||
	    rule.action == RULE_REWRITE;
}

enum policy_judged
policy_judge_answer(const struct policy_source *source,
    const struct rules_question *asked, unsigned int rule,
    const struct policy_answer *answer, struct policy_found *found)
{
	struct wire_reader w = wire_reader_over(answer->octets,
	    answer->length);
	unsigned int answers, steps = STEPS_MAX;
	struct reading r;
	bool denied = false;

	found->ruling.rule = 0;
	if (source->rules == NULL)
		return POLICY_ALLOWED;
	r.source = source;
	r.asked = asked;
	r.scope = answers_elsewhere(source->rules, rule) ? POLICY_OF_RULE :
	    POLICY_AFTER_ASKED;
	r.rule = rule;
	r.found = found;
	r.names.count = 0;
	if (!read_front(&w, &answers, &steps))
		return POLICY_UNREADABLE;
	for (unsigned int i = 0; i < answers && !denied; i++)
		if (!read_record(&r, &w, i < answer->known, &steps, &denied))
			return POLICY_UNREADABLE;
	return denied || !judge(&r) ? POLICY_DENIED : POLICY_ALLOWED;
}
