/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a rule: all but the names that it is for. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/build_state.h"
#include "resolver/dns/wire.h"

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
		[RULE_HOURS] = c->hours.count > 0,
		[RULE_DAYS] = c->days != 0,
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
		.hours = copy_numbers(b, &c->hours, false),
		.nameservers = { copy_prefixes(b, &c->nameservers, AF_INET),
		    copy_prefixes(b, &c->nameservers, AF_INET6) },
		.clients = { copy_prefixes(b, &c->clients, AF_INET),
		    copy_prefixes(b, &c->clients, AF_INET6) },
		.protocols = c->protocols,
		.source = c->source,
		.days = c->days,
	};
}

/* The addresses of one family. */
static struct section_span
copy_addresses(struct builder *b, const struct policy_address *a, size_t count,
    int family)
{
	struct section_span span = build_octets(b, NULL, 0, 0);

	for (size_t i = 0; i < count; i++)
		if (a[i].family == family) {
			(void)build_octets(b, a[i].address,
			    family == AF_INET ? 4 : 16, 1);
			span.count++;
		}
	return span;
}

static struct section_span
copy_name(struct builder *b, const struct dns_name *name)
{
	return build_octets(b, name->octets, name->length, name->length);
}

/* The target as the record of an RRset: behind its length. */
static struct section_span
copy_cname(struct builder *b, const struct dns_name *name)
{
	uint8_t length[2];
	struct section_span span;

	wire_store_u16(length, name->length);
	span = build_octets(b, length, sizeof(length), name->length + 2u);
	(void)copy_name(b, name);
	return span;
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
		.ipv4 = copy_addresses(b, addresses, rule->addresses.count,
		    AF_INET),
		.ipv6 = copy_addresses(b, addresses, rule->addresses.count,
		    AF_INET6),
		.line = rule->line,
		.action = rule->action,
		.only = rule->only,
		.strip_https = rule->strip_https,
		.observe = rule->observe,
		.log = rule->log,
		.ttl = rule->ttl,
		.rate = rule->rate,
	}, *to;
	uint32_t *noted;

	if (rule->action == RULE_CNAME || rule->action == RULE_POINTER)
		record.cname = copy_cname(b, &rule->cname);
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
