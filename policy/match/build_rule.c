/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a rule: all but the names that it is for. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/build_state.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/* Records that rules answer; equal answers stand in the section once. */

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

/* Copies numbers of the policy, sorted if they are looked for. */
static struct section_span
copy_numbers(struct builder *b, const struct policy_span *from, bool sorted)
{
	struct area *area = &b->areas[AREA_NUMBERS];
	const struct section_span span = {
		(uint32_t)AREA_ITEMS(area, uint32_t), from->count };
	uint32_t *to = build_grow(b, area, from->count * sizeof(*to));

	if (to == NULL || from->count == 0)
		return span;
	memcpy(to, b->policy->numbers + from->first,
	    from->count * sizeof(*to));
	if (sorted)
		qsort(to, from->count, sizeof(*to), build_compare_numbers);
	return span;
}

static int
compare_prefixes(const void *left, const void *right)
{
	const struct section_prefix *a = left, *b = right;
	const int order = memcmp(a->address, b->address, sizeof(a->address));

	return order != 0 ? order : a->length < b->length ? -1 :
	    a->length > b->length;
}

static bool
is_covered(const struct policy *policy, const struct policy_span *span,
    uint32_t i)
{
	const struct policy_prefix *p = policy->prefixes + span->first;

	for (uint32_t k = 0; k < span->count; k++)
		if (k != i && policy_prefix_covers(&p[k], &p[i]) &&
		    (!policy_prefix_covers(&p[i], &p[k]) || k < i))
			return true;
	return false;
}

/* The prefixes of one family, sorted, none within another. */
static struct section_span
copy_prefixes(struct builder *b, const struct policy_span *from, int family)
{
	struct area *area = &b->areas[AREA_PREFIXES];
	const uint32_t first =
	    (uint32_t)AREA_ITEMS(area, struct section_prefix);
	uint32_t count = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		const struct policy_prefix *p =
		    &b->policy->prefixes[from->first + i];
		struct section_prefix *to;

		if (p->family != family || is_covered(b->policy, from, i))
			continue;
		to = build_grow(b, area, sizeof(*to));
		if (to == NULL)
			return (struct section_span){ .count = 0 };
		memcpy(to->address, p->address, sizeof(to->address));
		to->length = p->length;
		count++;
	}
	if (count > 1)
		qsort(AREA_AT(area, struct section_prefix, first), count,
		    sizeof(struct section_prefix), compare_prefixes);
	return (struct section_span){ first, count };
}

static uint32_t
keys_of(const struct policy_conditions *c)
{
	const bool given[RULE_KEYS] = {
		[RULE_NAMES] = c->names.count > 0,
		[RULE_TYPES] = c->types.count > 0,
		[RULE_USERS] = c->users.count > 0,
		[RULE_GROUPS] = c->groups.count > 0,
		[RULE_NAMESERVERS] = c->nameservers.count > 0,
		[RULE_CLIENTS] = c->clients.count > 0,
		[RULE_PROTOCOLS] = c->protocols != 0,
		[RULE_SOURCE] = c->source != 0,
	};
	uint32_t keys = 0;

	for (unsigned int i = 0; i < RULE_KEYS; i++)
		keys |= (uint32_t)given[i] << i;
	return keys;
}

static struct section_conditions
copy_conditions(struct builder *b, const struct policy_conditions *c)
{
	return (struct section_conditions){
		.keys = keys_of(c),
		.types = copy_numbers(b, &c->types, true),
		.users = copy_numbers(b, &c->users, true),
		.groups = copy_numbers(b, &c->groups, true),
		.nameservers = { copy_prefixes(b, &c->nameservers, AF_INET),
		    copy_prefixes(b, &c->nameservers, AF_INET6) },
		.clients = { copy_prefixes(b, &c->clients, AF_INET),
		    copy_prefixes(b, &c->clients, AF_INET6) },
		.protocols = c->protocols,
		.source = c->source,
	};
}

static struct section_span
copy_name(struct builder *b, const struct dns_name *name)
{
	return build_octets(b, name->octets, name->length, name->length);
}

/* The addresses of one family as a set of records. */
static void
add_addresses(struct builder *b, const struct policy_rule *rule,
    const struct policy_address *a, int family)
{
	const size_t length = family == AF_INET ? 4 : 16;
	struct section_rrset rrset = { .ttl = rule->ttl,
		.type = family == AF_INET ? TYPE_A : TYPE_AAAA };
	struct area octets = { .octets = NULL };

	for (uint32_t i = 0; i < rule->addresses.count; i++) {
		uint8_t *to = a[i].family != family ? NULL :
		    build_grow(b, &octets, length);

		if (to == NULL)
			continue;
		memcpy(to, a[i].address, length);
		rrset.count++;
	}
	rrset.size = (uint32_t)octets.size;
	if (rrset.count > 0)
		build_rrset_add(b, &rrset, octets.octets);
	free(octets.octets);
}

static void
add_target(struct builder *b, const struct policy_rule *rule, uint16_t type)
{
	uint8_t octets[2 + NAME_MAX_OCTETS];

	wire_store_u16(octets, rule->cname.length);
	memcpy(octets + 2, rule->cname.octets, rule->cname.length);
	build_rrset_add(b, &(struct section_rrset){ .type = type, .count = 1,
		.ttl = rule->ttl, .size = rule->cname.length + 2u }, octets);
}

/* What the rule answers, whatever the name; 0: no records. */
static uint32_t
add_records(struct builder *b, const struct policy_rule *rule,
    const struct policy_address *addresses)
{
	const size_t first = AREA_ITEMS(&b->areas[AREA_RRSETS],
	    struct section_rrset);

	if (rule->zone != 0)
		return 0;
	if (rule->action == RULE_ADDRESSES) {
		add_addresses(b, rule, addresses, AF_INET);
		add_addresses(b, rule, addresses, AF_INET6);
	} else if (rule->action == RULE_CNAME)
		add_target(b, rule, TYPE_CNAME);
	return build_records_end(b, first);
}

uint32_t
build_rule_add(struct builder *b, const struct policy_rule *rule,
    const struct policy_address *addresses, uint32_t from)
{
	struct section_rule record = {
		.match = copy_conditions(b, &rule->match),
		.not = copy_conditions(b, &rule->not),
		.name = build_octets(b, rule->name, strlen(rule->name),
		    strlen(rule->name)),
		.records = add_records(b, rule, addresses),
		.line = rule->line,
		.action = rule->action,
		.only = rule->only,
		.observe = rule->observe,
		.log = rule->log,
		.rate = rule->rate,
	}, *to;
	uint32_t *noted;

	if (rule->action == RULE_REWRITE) {
		record.from = copy_name(b, &rule->from.name);
		record.to = copy_name(b, &rule->to.name);
		record.from_below = rule->from.kind == POLICY_BELOW;
		record.to_below = rule->to.kind == POLICY_BELOW;
	}
	if (rule->zone != 0)
		record.match.keys |= (uint32_t)1 << RULE_NAMES;
	to = build_grow(b, &b->areas[AREA_RULES], sizeof(*to));
	noted = build_grow(b, &b->from, sizeof(*noted));
	if (to == NULL || noted == NULL)
		return 0;
	*to = record;
	*noted = from;
	return (uint32_t)AREA_ITEMS(&b->areas[AREA_RULES], struct section_rule);
}
