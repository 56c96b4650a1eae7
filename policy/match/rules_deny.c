/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rules say of a question that cannot be read.  Blocklists and zones make
 * thousands of rules that ask the same of the asker, mostly nothing: one of them
 * is kept.
 */
#include <xxhash.h>

#include "policy/match/section.h"

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
