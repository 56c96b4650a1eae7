/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles a policy: names into one table, the rest of each rule as a record. */
#include "policy/match/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/match/build_state.h"
#include "resolver/dns/wire.h"

static int
compare_numbers(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left;
	const uint32_t b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
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
		qsort(to, from->count, sizeof(*to), compare_numbers);
	return span;
}

static bool
covers(const struct policy_prefix *wide, const struct policy_prefix *narrow)
{
	const unsigned int whole = wide->length / 8, rest = wide->length % 8;

	return wide->family == narrow->family &&
	    wide->length <= narrow->length &&
	    memcmp(wide->address, narrow->address, whole) == 0 && (rest == 0 ||
	    (wide->address[whole] ^ narrow->address[whole]) >>
	    (8 - rest) == 0);
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
		if (k != i && covers(&p[k], &p[i]) && (!covers(&p[i], &p[k]) ||
		    k < i))
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
copy_addresses(struct builder *b, const struct policy_span *from, int family)
{
	struct section_span span = build_octets(b, NULL, 0, 0);

	for (uint32_t i = 0; i < from->count; i++) {
		const struct policy_address *a =
		    &b->policy->addresses[from->first + i];

		if (a->family != family)
			continue;
		(void)build_octets(b, a->address,
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

static void
add_record(struct builder *b, const struct policy_rule *rule)
{
	struct section_rule record = {
		.match = copy_conditions(b, &rule->match),
		.not = copy_conditions(b, &rule->not),
		.name = build_octets(b, rule->name, strlen(rule->name),
		    strlen(rule->name)),
		.ipv4 = copy_addresses(b, &rule->addresses, AF_INET),
		.ipv6 = copy_addresses(b, &rule->addresses, AF_INET6),
		.line = rule->line,
		.action = rule->action,
		.only = rule->only,
		.strip_https = rule->strip_https,
		.observe = rule->observe,
		.log = rule->log,
		.ttl = rule->ttl,
		.rate = rule->rate,
	}, *to;

	if (rule->action == RULE_CNAME || rule->action == RULE_POINTER)
		record.cname = copy_cname(b, &rule->cname);
	if (rule->action == RULE_REWRITE) {
		record.from = copy_name(b, &rule->from.name);
		record.to = copy_name(b, &rule->to.name);
		record.from_below = rule->from.kind == POLICY_BELOW;
		record.to_below = rule->to.kind == POLICY_BELOW;
	}
	to = build_grow(b, &b->areas[AREA_RULES], sizeof(*to));
	if (to != NULL)
		*to = record;
}

static void
add_name(struct builder *b, const struct policy_name *name, uint32_t code)
{
	const struct build_set *set;

	if (name->kind != POLICY_SET) {
		build_entry_add(b, build_name_get(b, &name->name), name->kind,
		    code);
		return;
	}
	set = &b->sets[name->set];
	for (size_t i = 0; i < set->count && b->error == 0; i++)
		build_entry_add(b, set->names[i].name, set->names[i].kind,
		    code);
}

static void
add_span(struct builder *b, const struct policy_span *span, uint32_t code)
{
	for (uint32_t i = 0; i < span->count && b->error == 0; i++)
		add_name(b, &b->policy->names[span->first + i], code);
}

/* A rewrite without names is for those that it rewrites. */
static void
add_names(struct builder *b, const struct policy_rule *rule, uint32_t number)
{
	add_span(b, &rule->match.names, RULES_CODE(number, 0));
	add_span(b, &rule->not.names, RULES_CODE(number, 1));
	if (rule->match.names.count == 0 && rule->action == RULE_REWRITE)
		add_name(b, &rule->from, RULES_CODE(number, 0));
}

static void
read_sets(struct builder *b, const int *fds)
{
	const struct policy *policy = b->policy;

	b->sets = calloc(policy->set_count + 1, sizeof(*b->sets));
	if (b->sets == NULL)
		b->error = -ENOMEM;
	for (size_t i = 0; i < policy->set_count && b->error == 0; i++)
		build_set_read(b, &b->sets[i], policy->sets[i].path, fds[i]);
}

static void
add_rules(struct builder *b, struct area *id_entries)
{
	const struct policy *policy = b->policy;

	for (size_t i = 0; i < policy->rule_count && b->error == 0; i++) {
		add_record(b, &policy->rules[i]);
		add_names(b, &policy->rules[i], (uint32_t)i + 1);
		build_ids_add(b, id_entries, &policy->rules[i], (uint32_t)i + 1);
	}
}

/* How many rules a list makes a question try, and the last of them. */
static size_t
tries_of(const struct builder *b, const struct section_span *span,
    uint32_t *last)
{
	size_t tries = 0;

	for (uint32_t i = 0; i < span->count; i++) {
		const uint32_t code = *AREA_AT(&b->areas[AREA_LISTS],
		    const uint32_t, span->first + i);

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
		diag_add(b->diag, DIAG_ERROR, b->file,
		    b->policy->rules[rule - 1].line, "policy: %zu rules would "
		    "have to be tried for one question, of which rule \"%s\" "
		    "is the last; at most %d: give them names, or users or "
		    "groups, or make one rule of several", tries,
		    b->policy->rules[rule - 1].name, RULES_TRIES);
}

static bool
needs_time(const struct policy *policy)
{
	return policy->zone_count > 0;
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
	h->rule_count = (uint32_t)b->policy->rule_count;
	h->needs_time = needs_time(b->policy);
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
run(struct builder *b, const int *sets, uint8_t **octets, size_t *size)
{
	const struct policy *policy = b->policy;
	const size_t errors = b->diag->errors;
	struct area ids = { .octets = NULL };
	void *zones;

	/* A name at offset 0 would be none. */
	(void)build_octets(b, "", 1, 1);
	read_sets(b, sets);
	add_rules(b, &ids);
	zones = build_grow(b, &b->areas[AREA_ZONES],
	    policy->zone_count * sizeof(policy->zones[0]));
	if (zones != NULL)
		memcpy(zones, policy->zones,
		    policy->zone_count * sizeof(policy->zones[0]));
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
	if (b->error == 0)
		join(b, octets, size);
	free(ids.octets);
}

static void
builder_clear(struct builder *b)
{
	for (size_t i = 0; i < RULES_AREAS; i++)
		free(b->areas[i].octets);
	for (size_t i = 0; b->sets != NULL && i < b->policy->set_count; i++)
		free(b->sets[i].names);
	free(b->sets);
	free(b->names.octets);
	free(b->entries.octets);
	free(b->spans.octets);
	free(b->by_name.slots);
	free(b->by_list.slots);
}

int
rules_build(const struct policy *policy, const char *file, const int *sets,
    struct diag *diag, uint8_t **octets, size_t *size)
{
	struct builder b = { .policy = policy, .file = file, .diag = diag };

	*octets = NULL;
	*size = 0;
	if (policy->rule_count == 0)
		return 0;
	run(&b, sets, octets, size);
	builder_clear(&b);
	if (b.error == -E2BIG) {
		diag_add(diag, DIAG_ERROR, file, 0, "policy: too large: the "
		    "names of its rules would exceed 4 GiB");
		return -EINVAL;
	}
	return b.error;
}
