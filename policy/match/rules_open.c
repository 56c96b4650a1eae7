/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks a section; all other code trusts it. */
#include "policy/match/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/section.h"
#include "resolver/dns/rdata.h"
#include "resolver/dns/rr.h"
#include "resolver/dns/wire.h"

/* Octets of an area's items. */
static const size_t item_octets[RULES_AREAS] = {
	[AREA_RULES] = sizeof(struct section_rule),
	[AREA_FILTER] = sizeof(uint64_t),
	[AREA_SLOTS] = sizeof(struct section_slot),
	[AREA_NODES] = sizeof(struct section_node),
	[AREA_IDS] = sizeof(struct section_id),
	[AREA_PREFIXES] = sizeof(struct section_prefix),
	[AREA_LISTS] = sizeof(struct section_code),
	[AREA_RRSETS] = sizeof(struct section_rrset),
	[AREA_NUMBERS] = sizeof(uint32_t),
	[AREA_OCTETS] = 1,
};

struct check {
	const uint8_t *section;
	const struct section_header *header;
};

static size_t
items_of(const struct check *c, enum rules_area area)
{
	return c->header->sizes[area] / item_octets[area];
}

static const void *
area_of(const struct check *c, enum rules_area area)
{
	return c->section + c->header->offsets[area];
}

static bool
has_span(const struct check *c, enum rules_area area,
    const struct section_span *span, uint64_t item)
{
	return span->first + span->count * item <= items_of(c, area);
}

static const char *
check_header(const struct section_header *h, size_t size)
{
	uint64_t at = section_pad8(sizeof(*h));

	if (size < sizeof(*h) || memcmp(h->magic, SECTION_MAGIC,
	    sizeof(h->magic)) != 0)
		return "the policy is not one";
	if (h->version != SECTION_VERSION || h->header_size != sizeof(*h))
		return "the policy was made by another version of this program";
	for (size_t i = 0; i < RULES_AREAS; i++) {
		if (h->offsets[i] != at || h->sizes[i] > size ||
		    h->sizes[i] % item_octets[i] != 0)
			return "areas of the policy out of order";
		at += section_pad8(h->sizes[i]);
	}
	if (at != size || h->total_size != size)
		return "the policy was cut or grew";
	return NULL;
}

/* Whether a hash table has the size that its header says. */
static const char *
check_tables(const struct check *c)
{
	const struct section_header *h = c->header;

	if (h->rule_count == 0 || h->rule_count > RULE_MAX ||
	    items_of(c, AREA_RULES) != h->rule_count)
		return "the policy's rules are not as many as it says";
	if (h->slot_bits > SECTION_SLOT_BITS_MAX ||
	    h->id_bits > SECTION_SLOT_BITS_MAX || h->filter_bits < 6 ||
	    h->filter_bits > SECTION_FILTER_BITS_MAX ||
	    items_of(c, AREA_SLOTS) != (size_t)1 << h->slot_bits ||
	    items_of(c, AREA_IDS) != (size_t)1 << h->id_bits ||
	    items_of(c, AREA_FILTER) != (size_t)1 << (h->filter_bits - 6))
		return "the policy's tables have another size";
	if (!has_span(c, AREA_LISTS, &h->others, 1))
		return "a list of the policy is out of bounds";
	return NULL;
}

static const char *
check_lists(const struct check *c)
{
	const struct section_code *lists = area_of(c, AREA_LISTS);
	const size_t count = items_of(c, AREA_LISTS);

	for (size_t i = 0; i < count; i++)
		if (lists[i].code >> 1 == 0 ||
		    lists[i].code >> 1 > c->header->rule_count ||
		    lists[i].records > items_of(c, AREA_RRSETS))
			return "a list of the policy names no rule";
	return NULL;
}

/* The records of a set, each behind its length. */
static bool
records_sound(const struct section_rrset *rrset, const uint8_t *octets)
{
	const size_t size = rrset->size;
	size_t at = 0;

	for (uint32_t i = 0; i < rrset->count; i++) {
		size_t n;

		if (size - at < 2)
			return false;
		n = wire_load_u16(octets + at);
		at += 2;
		if (size - at < n ||
		    !rdata_valid(rrset->type, octets + at, n))
			return false;
		at += n;
	}
	return at == size;
}

static bool
rrset_sound(const struct section_rrset *rrset, const uint8_t *octets)
{
	const size_t fixed = rdata_fixed_length(rrset->type);

	/* What follows a CNAME in an answer belongs to its one target. */
	if (rrset->count == 0 || rrset->is_last > 1 ||
	    (rrset->type == TYPE_CNAME && rrset->count > 1))
		return false;
	return fixed != 0 ? rrset->size == rrset->count * fixed :
	    records_sound(rrset, octets);
}

/*
 * Their data lie behind each other, so each octet is looked at once; and every
 * answer has its end.
 */
static const char *
check_rrsets(const struct check *c)
{
	const struct section_rrset *rrsets = area_of(c, AREA_RRSETS);
	const uint8_t *octets = area_of(c, AREA_OCTETS);
	const size_t count = items_of(c, AREA_RRSETS);
	uint64_t end = 0;
	size_t run = 0;

	for (size_t i = 0; i < count; i++) {
		const struct section_rrset *rrset = &rrsets[i];

		if (rrset->rdata < end || (uint64_t)rrset->rdata +
		    rrset->size > items_of(c, AREA_OCTETS) ||
		    !rrset_sound(rrset, octets + rrset->rdata))
			return "records of the policy are not as they should be";
		end = (uint64_t)rrset->rdata + rrset->size;
		run = rrset->is_last != 0 ? 0 : run + 1;
		if (run == SECTION_RRSETS_MAX)
			break;
	}
	return run == 0 ? NULL : "records of the policy have no end";
}

static const char *
check_nodes(const struct check *c)
{
	const struct section_node *nodes = area_of(c, AREA_NODES);
	const size_t count = items_of(c, AREA_NODES);

	for (size_t i = 0; i < count; i++)
		if (!has_span(c, AREA_LISTS, &nodes[i].at, 1) ||
		    !has_span(c, AREA_LISTS, &nodes[i].below, 1))
			return "a list of the policy is out of bounds";
	return NULL;
}

/* A name behind its length. */
static bool
is_name(const struct check *c, uint32_t at)
{
	const uint8_t *octets = area_of(c, AREA_OCTETS);
	const size_t size = items_of(c, AREA_OCTETS);

	return at < size && octets[at] > 0 && size - at > octets[at];
}

static const char *
check_slots(const struct check *c)
{
	const struct section_slot *slots = area_of(c, AREA_SLOTS);
	const struct section_id *ids = area_of(c, AREA_IDS);

	for (size_t i = 0; i < items_of(c, AREA_SLOTS); i++)
		if (slots[i].name != 0 && (!is_name(c, slots[i].name) ||
		    slots[i].node >= items_of(c, AREA_NODES)))
			return "a name of the policy is out of bounds";
	for (size_t i = 0; i < items_of(c, AREA_IDS); i++)
		if (!has_span(c, AREA_LISTS, &ids[i].list, 1))
			return "a list of the policy is out of bounds";
	/* The places that look-ups begin to look at must be there. */
	return items_of(c, AREA_OCTETS) == 0 ? "the policy has no names" : NULL;
}

static bool
conditions_sound(const struct check *c, const struct section_conditions *x)
{
	if (x->keys >> RULE_KEYS != 0)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (!has_span(c, AREA_PREFIXES, &x->nameservers[i], 1) ||
		    !has_span(c, AREA_PREFIXES, &x->clients[i], 1))
			return false;
	return has_span(c, AREA_NUMBERS, &x->types, 1) &&
	    has_span(c, AREA_NUMBERS, &x->users, 1) &&
	    has_span(c, AREA_NUMBERS, &x->groups, 1);
}

/* Whether a span of octets is a whole wire name. */
static bool
is_wire_name(const struct check *c, const struct section_span *span)
{
	const uint8_t *octets = area_of(c, AREA_OCTETS);
	struct dns_name name;

	return name_read_lower(&name, octets + span->first,
	    span->count) == 0 && name.length == span->count;
}

static bool
action_sound(const struct check *c, const struct section_rule *rule)
{
	return rule->records <= items_of(c, AREA_RRSETS) &&
	    (rule->action != RULE_REWRITE || (is_wire_name(c, &rule->from) &&
	    is_wire_name(c, &rule->to)));
}

/* Names of rules go to terminals, logs and clients as they are. */
static bool
is_printable(const struct check *c, const struct section_span *span)
{
	const uint8_t *octets = area_of(c, AREA_OCTETS);

	for (uint32_t i = 0; i < span->count; i++)
		if (octets[span->first + i] < 0x21 ||
		    octets[span->first + i] > 0x7e)
			return false;
	return true;
}

static bool
rule_sound(const struct check *c, const struct section_rule *rule)
{
	const struct section_span *const octets[] = { &rule->name,
		&rule->from, &rule->to };

	for (size_t i = 0; i < sizeof(octets) / sizeof(octets[0]); i++)
		if (!has_span(c, AREA_OCTETS, octets[i], 1))
			return false;
	return rule->name.count <= RULE_NAME_MAX &&
	    is_printable(c, &rule->name) &&
	    rule->action < RULE_ACTIONS && rule->only <= RULE_ONLY_AAAA &&
	    rule->observe <= 1 &&
	    rule->log <= RULE_LOG_ONLY && rule->rate.per <= RULE_PER_RULE &&
	    rule->rate.limit <= 1000000 &&
	    conditions_sound(c, &rule->match) &&
	    conditions_sound(c, &rule->not) && action_sound(c, rule);
}

static const char *
check_rules(const struct check *c)
{
	const struct section_rule *rules = area_of(c, AREA_RULES);

	for (size_t i = 0; i < c->header->rule_count; i++)
		if (!rule_sound(c, &rules[i]))
			return "a rule of the policy is not as it should be";
	return NULL;
}

static void
load(struct rules *r, const struct check *c)
{
	const struct section_header *h = c->header;

	r->header = h;
	r->rules = area_of(c, AREA_RULES);
	r->filter = area_of(c, AREA_FILTER);
	r->filter_mask = ((uint32_t)1 << h->filter_bits) - 1;
	r->slots = area_of(c, AREA_SLOTS);
	r->slot_mask = ((uint32_t)1 << h->slot_bits) - 1;
	r->nodes = area_of(c, AREA_NODES);
	r->ids = area_of(c, AREA_IDS);
	r->id_mask = ((uint32_t)1 << h->id_bits) - 1;
	r->prefixes = area_of(c, AREA_PREFIXES);
	r->lists = area_of(c, AREA_LISTS);
	r->rrsets = area_of(c, AREA_RRSETS);
	r->numbers = area_of(c, AREA_NUMBERS);
	r->octets = area_of(c, AREA_OCTETS);
	for (unsigned int n = NAME_MAX_LABELS + 1; n-- > 0;)
		if ((h->below_labels[n / 64] >> n % 64 & 1) != 0)
			r->depths.labels[r->depths.count++] = (uint8_t)n;
	r->deny_count = section_find_denies(r, r->denies, &r->more_denies);
}

int
rules_open(struct rules **rules, const uint8_t *octets, size_t size,
    const char **why)
{
	const struct check c = { octets, (const void *)octets };

	*rules = NULL;
	*why = NULL;
	if (size == 0)
		return 0;
	*why = check_header(c.header, size);
	if (*why == NULL)
		*why = check_tables(&c);
	if (*why == NULL)
		*why = check_lists(&c);
	if (*why == NULL)
		*why = check_rrsets(&c);
	if (*why == NULL)
		*why = check_nodes(&c);
	if (*why == NULL)
		*why = check_slots(&c);
	if (*why == NULL)
		*why = check_rules(&c);
	if (*why != NULL)
		return -EINVAL;
	*rules = calloc(1, sizeof(**rules));
	if (*rules == NULL) {
		*why = "out of memory";
		return -ENOMEM;
	}
	load(*rules, &c);
	return 0;
}

void
rules_close(struct rules *rules)
{
	free(rules);
}
