/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matching.  A question has four lists of rules, each in ascending order: those
 * for its name, its user, its group, and those found by none of the three.  The
 * rule with the least number in any of them is tried next, so rules are tried
 * in their order.
 */
#include "policy/match/rules.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <xxhash.h>

#include "policy/match/section.h"
#include "resolver/dns/rdata.h"
#include "resolver/text/host.h"

enum { LIST_NAME, LIST_USER, LIST_GROUP, LIST_OTHER };

unsigned int
rules_count(const struct rules *rules)
{
	return rules != NULL ? rules->header->rule_count : 0;
}

static struct rules_list
list_of(const struct rules *r, const struct section_span *span)
{
	return (struct rules_list){ r->lists + span->first,
		r->lists + span->first + span->count };
}

/* What the slot of that name has; NULL: no rule says anything about it. */
static inline const struct section_node *
find_name(const struct rules *r, const uint8_t *octets, size_t length)
{
	const uint64_t hash = section_hash(octets, length, r->header->seed);
	const uint32_t tag = (uint32_t)(hash >> 32);
	const uint32_t bit = tag & r->filter_mask;

	if ((r->filter[bit / 64] >> bit % 64 & 1) == 0)
		return NULL;
	for (uint32_t i = 0; i < SECTION_RUN; i++) {
		const struct section_slot *slot =
		    &r->slots[((uint32_t)hash + i) & r->slot_mask];
		const uint8_t *name = r->octets + slot->name;

		if (slot->name == 0)
			return NULL;
		if (slot->tag == tag && name[0] == length &&
		    memcmp(name + 1, octets, length) == 0)
			return &r->nodes[slot->node];
	}
	return NULL;
}

/* The codes of rules about the name. */
static struct rules_list
find_names(const struct rules *r, const struct dns_name *name)
{
	const struct section_node *node = find_name(r, name->octets,
	    name->length);
	unsigned int labels = name->labels;
	size_t start = 0;

	if (node != NULL)
		return list_of(r, &node->at);
	for (size_t i = 0; i < r->depths.count; i++) {
		if (r->depths.labels[i] >= name->labels)
			continue;
		for (; labels > r->depths.labels[i]; labels--)
			start += 1u + name->octets[start];
		node = find_name(r, name->octets + start,
		    name->length - start);
		if (node != NULL)
			return list_of(r, &node->below);
	}
	return (struct rules_list){ NULL, NULL };
}

static struct rules_list
find_id(const struct rules *r, enum section_id_kind kind, uint32_t id)
{
	const uint32_t start = section_id_hash(kind, id);

	for (uint32_t i = 0; i < SECTION_RUN && i <= r->id_mask; i++) {
		const struct section_id *slot =
		    &r->ids[(start + i) & r->id_mask];

		if (slot->kind == ID_NONE)
			break;
		if (slot->kind == kind && slot->id == id)
			return list_of(r, &slot->list);
	}
	return (struct rules_list){ NULL, NULL };
}

void
rules_begin(struct rules_cursor *c, const struct rules *r,
    const struct rules_question *question)
{
	const struct asker *asker = question->asker;

	c->rules = r;
	c->question = question;
	c->last = 0;
	c->names = find_names(r, question->name);
	c->lists[LIST_NAME] = c->names;
	c->lists[LIST_USER] = find_id(r, ID_USER, asker->uid);
	c->lists[LIST_GROUP] = find_id(r, ID_GROUP, asker->gid);
	c->lists[LIST_OTHER] = list_of(r, &r->header->others);
}

/* Where a list has the code; NULL: it has not. */
static const struct section_code *
find_code(const struct rules_list *list, uint32_t code)
{
	const struct section_code *low = list->next;
	size_t count = (size_t)(list->end - low);

	while (count > 0) {
		const size_t half = count / 2;

		if (low[half].code == code)
			return &low[half];
		if (low[half].code < code) {
			low += half + 1;
			count -= half + 1;
		} else
			count = half;
	}
	return NULL;
}

/* Whether a sorted array has the number. */
static bool
has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
	size_t low = 0;

	while (count > 0) {
		const size_t half = count / 2;

		if (numbers[low + half] < number) {
			low += half + 1;
			count -= half + 1;
		} else if (numbers[low + half] == number)
			return true;
		else
			count = half;
	}
	return false;
}

static bool
span_has(const struct rules *r, const struct section_span *span,
    uint32_t number)
{
	return has_number(r->numbers + span->first, span->count, number);
}

/* Unknown: the kernel named none. */
static bool
span_has_id(const struct rules *r, const struct section_span *span, uint32_t id)
{
	return id != UINT32_MAX && span_has(r, span, id);
}

/* rules_open() does not look at lengths: one that is too long has no address. */
static bool
is_within(const uint8_t *address, size_t octets,
    const struct section_prefix *prefix)
{
	return prefix->length <= 8 * octets &&
	    host_same_bits(address, prefix->address, prefix->length);
}

/*
 * Whether one of the prefixes has the address: since they are in order and none
 * is within another, it can only be the last that does not begin behind it.
 */
static bool
prefixes_have(const struct rules *r, const struct section_span spans[2],
    uint8_t family, const uint8_t *address)
{
	const struct section_span *span = &spans[family == AF_INET6];
	const struct section_prefix *p = r->prefixes + span->first;
	const size_t octets = family == AF_INET6 ? 16 : 4;
	size_t count = span->count;

	if (address == NULL || count == 0)
		return false;
	while (count > 1) {
		const size_t half = count / 2;

		if (memcmp(p[half].address, address, octets) <= 0)
			p += half;
		count -= half;
	}
	return is_within(address, octets, p);
}

static bool
holds(const struct rules_cursor *c, const struct section_conditions *x,
    enum rule_key key, uint32_t code)
{
	const struct rules *r = c->rules;
	const struct asker *asker = c->question->asker;

	switch (key) {
	case RULE_NAMES:
		return find_code(&c->names, code) != NULL;
	case RULE_TYPES:
		return span_has(r, &x->types, c->question->type);
	case RULE_USERS:
		return span_has_id(r, &x->users, asker->uid);
	case RULE_GROUPS:
		return span_has_id(r, &x->groups, asker->gid);
	case RULE_NAMESERVERS:
		return prefixes_have(r, x->nameservers, asker->family,
		    asker->nameserver);
	case RULE_CLIENTS:
		return prefixes_have(r, x->clients, asker->family,
		    asker->address);
	case RULE_PROTOCOLS:
		return (x->protocols & (asker->protocol == IPPROTO_TCP ?
		    RULE_TCP : RULE_UDP)) != 0;
	default:
		return (x->source & (c->question->mesh ? RULE_MESH :
		    RULE_OTHER)) != 0;
	}
}

/* The first condition that stands against the rule; RULE_KEYS: none. */
static enum rule_key
against(const struct rules_cursor *c, const struct section_conditions *x,
    bool negated, uint32_t code)
{
	for (uint32_t keys = x->keys; keys != 0; keys &= keys - 1) {
		const enum rule_key key = (enum rule_key)__builtin_ctz(keys);

		if (holds(c, x, key, code) == negated)
			return key;
	}
	return RULE_KEYS;
}

static bool
read_name(struct dns_name *name, const uint8_t *octets)
{
	return name_read_lower(name, octets, NAME_MAX_OCTETS) == 0;
}

/* Whether the name is one that a rewrite is from. */
static bool
is_from(const struct rules_cursor *c, const struct section_rule *rule)
{
	const struct dns_name *name = c->question->name;
	struct dns_name from;

	return read_name(&from, c->rules->octets + rule->from.first) &&
	    name_is_within(name, &from) &&
	    (name->labels > from.labels) == (rule->from_below != 0);
}

static bool
is_match(const struct rules_cursor *c, unsigned int number,
    struct rules_miss *miss)
{
	const struct section_rule *rule = &c->rules->rules[number - 1];

	miss->negated = false;
	miss->key = against(c, &rule->match, false, RULES_CODE(number, 0));
	if (miss->key == RULE_KEYS && rule->action == RULE_REWRITE &&
	    !is_from(c, rule))
		miss->key = RULE_NAMES;
	if (miss->key != RULE_KEYS)
		return false;
	miss->negated = true;
	miss->key = against(c, &rule->not, true, RULES_CODE(number, 1));
	return miss->key == RULE_KEYS;
}

/* The number at the head of a list, after those that were tried; 0: the end. */
static inline unsigned int
head_of(struct rules_list *list, unsigned int last)
{
	for (; list->next < list->end; list->next++)
		if ((list->next->code & 1) == 0 && list->next->code >> 1 > last)
			return list->next->code >> 1;
	return 0;
}

unsigned int
rules_next(struct rules_cursor *c)
{
	struct rules_miss miss;

	for (;;) {
		unsigned int least = 0;

		for (size_t i = 0; i < 4; i++) {
			const unsigned int head = head_of(&c->lists[i],
			    c->last);

			if (head != 0 && (least == 0 || head < least))
				least = head;
		}
		if (least == 0)
			return 0;
		c->last = least;
		if (is_match(c, least, &miss))
			return least;
	}
}

static bool
is_known(const struct asker *asker, enum rule_key key)
{
	switch (key) {
	case RULE_NAMESERVERS:
		return asker->nameserver != NULL;
	case RULE_CLIENTS:
		return asker->address != NULL;
	case RULE_PROTOCOLS:
		return asker->protocol != 0;
	default:
		return true;	/* a user that is not known is none of a list */
	}
}

/* Whether the conditions on the asker hold; what is not known is "guess". */
static bool
asker_meets(const struct rules_cursor *c, const struct section_rule *rule,
    bool guess)
{
	for (unsigned int n = 0; n < 2; n++) {
		const struct section_conditions *x = n == 0 ? &rule->match :
		    &rule->not;
		uint32_t keys = x->keys & SECTION_ASKER_KEYS;

		for (; keys != 0; keys &= keys - 1) {
			const enum rule_key key =
			    (enum rule_key)__builtin_ctz(keys);

			if (is_known(c->question->asker, key) ?
			    holds(c, x, key, 0) == (n == 1) : !guess)
				return false;
		}
	}
	return true;
}

/* Those that allow all were sorted out before the first that denies. */
static bool
could_deny_anybody(const struct rules *r)
{
	for (size_t i = 0; i < r->deny_count; i++)
		if (r->denies[i].denies != 0)
			return true;
	return r->more_denies;
}

bool
rules_could_deny(const struct rules *r, const struct asker *asker)
{
	const struct rules_question question = { .asker = asker };
	struct rules_cursor cursor = { .rules = r, .question = &question };
	unsigned int protocol;

	if (r == NULL || asker == NULL)
		return r != NULL && could_deny_anybody(r);
	protocol = asker->protocol == IPPROTO_TCP ? RULE_TCP :
	    asker->protocol == IPPROTO_UDP ? RULE_UDP : RULE_TCP | RULE_UDP;
	for (size_t i = 0; i < r->deny_count; i++) {
		const struct section_deny *d = &r->denies[i];

		if ((d->denies & protocol) != 0 &&
		    asker_meets(&cursor, d->rule, true))
			return true;
		if ((d->allows & protocol) == protocol &&
		    asker_meets(&cursor, d->rule, false))
			return false;
	}
	return r->more_denies;
}

bool
rules_matches(const struct rules *rules, unsigned int number,
    const struct rules_question *question, struct rules_miss *miss)
{
	struct rules_cursor cursor;

	rules_begin(&cursor, rules, question);
	return is_match(&cursor, number, miss);
}

static const struct section_rrset *
records_at(const struct rules *r, uint32_t number)
{
	return number != 0 ? &r->rrsets[number - 1] : NULL;
}

void
rules_get(const struct rules *r, unsigned int number, struct rules_rule *rule)
{
	const struct section_rule *s = &r->rules[number - 1];
	const uint8_t *octets = r->octets;

	*rule = (struct rules_rule){
		.name = (const char *)octets + s->name.first,
		.name_length = (uint8_t)s->name.count,
		.line = s->line,
		.action = (enum rule_action)s->action,
		.only = (enum rule_only)s->only,
		.observe = s->observe != 0,
		.log = (enum rule_log)s->log,
		.rate = s->rate,
		.records = records_at(r, s->records),
		.octets = octets,
		.from = octets + s->from.first,
		.to = octets + s->to.first,
		.from_below = s->from_below != 0,
		.to_below = s->to_below != 0,
	};
}

void
rules_get_for(const struct rules_cursor *c, unsigned int number,
    struct rules_rule *rule)
{
	const struct section_code *found;

	rules_get(c->rules, number, rule);
	if (rule->action != RULE_RECORDS && rule->action != RULE_CNAME &&
	    rule->action != RULE_CNAME_BELOW)
		return;
	found = find_code(&c->names, RULES_CODE(number, 0));
	if (found != NULL && found->records != 0)
		rule->records = records_at(c->rules, found->records);
}

bool
rules_rrset(const struct rules_rule *rule, unsigned int n, struct rrset *rrset)
{
	const struct section_rrset *s = rule->records;

	for (; s != NULL && n > 0; n--)
		s = s->is_last != 0 ? NULL : s + 1;
	if (s == NULL)
		return false;
	*rrset = (struct rrset){ .type = s->type, .count = s->count,
		.rdlength = rdata_fixed_length(s->type), .ttl = s->ttl,
		.rdata = rule->octets + s->rdata };
	return true;
}

bool
rules_rewrite(const struct rules_rule *rule, const struct dns_name *name,
    struct dns_name *to)
{
	struct dns_name from, front, target;

	if (!read_name(&target, rule->to) || !read_name(&from, rule->from))
		return false;
	if (!rule->to_below) {
		*to = target;
		return true;
	}
	if (!name_is_within(name, &from) || name->labels == from.labels)
		return false;
	/* What stands before "from". */
	front.length = (uint8_t)(name->length - from.length + 1);
	front.labels = (uint8_t)(name->labels - from.labels);
	memcpy(front.octets, name->octets, front.length - 1u);
	front.octets[front.length - 1] = 0;
	return name_join(to, &front, &target) == 0;
}

/*
 * What rules say of a question that cannot be read.  Blocklists and zones make
 * thousands of rules that ask the same of the asker, mostly nothing: one of them
 * is kept.
 */

#define SLOTS	((size_t)4 * RULES_TRIES)	/* a power of two */
#define BOTH	(RULE_UDP | RULE_TCP)

static uint8_t
denied_by(const struct section_rule *rule)
{
	if (rule->action == RULE_TCP_ONLY &&
	    !policy_action_denies(RULE_ANSWER, &rule->rate))
		return RULE_UDP;
	return policy_action_denies(rule->action, &rule->rate) ? BOTH : 0;
}

/* What the rule does, provided that it decides at all. */
static struct section_deny
what_of(const struct section_rule *rule)
{
	struct section_deny d = { .rule = rule };

	if (rule->observe || rule->log == RULE_LOG_ONLY)
		return d;
	d.denies = denied_by(rule);
	if (rule->action != RULE_NOTHING &&
	    ((rule->match.keys | rule->not.keys) & ~SECTION_ASKER_KEYS) == 0)
		d.allows = BOTH & (uint8_t)~d.denies;
	return d;
}

static uint64_t
add_octets(uint64_t hash, const void *octets, size_t size)
{
	return XXH3_64bits_withSeed(octets, size, hash + size);
}

static uint64_t
add_numbers(uint64_t hash, const struct rules *r,
    const struct section_span *span)
{
	return add_octets(hash, r->numbers + span->first,
	    span->count * sizeof(r->numbers[0]));
}

static uint64_t
add_prefixes(uint64_t hash, const struct rules *r,
    const struct section_span spans[2])
{
	for (unsigned int i = 0; i < 2; i++)
		hash = add_octets(hash, r->prefixes + spans[i].first,
		    spans[i].count * sizeof(r->prefixes[0]));
	return hash;
}

static uint64_t
add_conditions(uint64_t hash, const struct rules *r,
    const struct section_conditions *x)
{
	const uint32_t values[] = { x->keys & SECTION_ASKER_KEYS,
		x->protocols };

	hash = add_octets(hash, values, sizeof(values));
	hash = add_numbers(hash, r, &x->users);
	hash = add_numbers(hash, r, &x->groups);
	hash = add_prefixes(hash, r, x->nameservers);
	return add_prefixes(hash, r, x->clients);
}

/* Equal for rules that ask the same of the asker and do the same; not 0. */
static uint64_t
hash_of(const struct rules *r, const struct section_deny *d)
{
	const uint64_t does = (uint64_t)d->denies << 8 | d->allows;

	return add_conditions(add_conditions(does, r, &d->rule->match), r,
	    &d->rule->not) | 1;
}

static bool
asks_nothing(const struct section_rule *rule)
{
	return ((rule->match.keys | rule->not.keys) & SECTION_ASKER_KEYS) == 0;
}

size_t
section_find_denies(const struct rules *r, struct section_deny *denies,
    bool *more)
{
	uint64_t seen[SLOTS] = { 0 };	/* 0: empty */
	size_t count = 0;

	*more = false;
	for (uint32_t n = 0; n < r->header->rule_count; n++) {
		const struct section_deny d = what_of(&r->rules[n]);
		uint64_t hash, at;

		if (d.denies == 0 && d.allows == 0)
			continue;
		hash = hash_of(r, &d);
		for (at = hash >> 32; seen[at % SLOTS] != 0; at++)
			if (seen[at % SLOTS] == hash)
				break;
		if (seen[at % SLOTS] == hash)
			continue;
		if (count == RULES_TRIES) {
			*more = true;
			return count;
		}
		seen[at % SLOTS] = hash;
		denies[count++] = d;
		/* Whoever asks: nobody comes to the rules behind it. */
		if (asks_nothing(&r->rules[n]) && (d.denies | d.allows) == BOTH)
			return count;
	}
	return count;
}
