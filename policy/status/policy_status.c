/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/policy_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever the page has, a sum of two fits JSON's numbers. */
#define COUNT_MASK	((uint64_t)INT64_MAX >> 1)

static uint64_t
load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static bool
has_name(const struct status_rule *place, const struct rules_rule *rule)
{
	return place->name.length == rule->name_length &&
	    memcmp(place->name.text, rule->name, rule->name_length) == 0;
}

/* Which of the first rules have a place by their names already. */
static void
keep_places(struct status_policy *page, const struct rules *rules,
    unsigned int count, struct policy_counter **counters)
{
	for (size_t i = 0; i < STATUS_RULES; i++) {
		struct status_rule *place = &page->rules[i];
		uint32_t number = 0;

		for (unsigned int n = 1; n <= count && number == 0 &&
		    place->name.length > 0; n++) {
			struct rules_rule rule;

			rules_get(rules, n, &rule);
			if (has_name(place, &rule))
				number = n;
		}
		atomic_store(&place->number, number);
		if (number != 0) {
			counters[number - 1] = &place->counter;
		} else {
			atomic_store(&place->counter.enforced, 0);
			atomic_store(&place->counter.observed, 0);
			atomic_store(&place->counter.limited, 0);
			place->name.length = 0;
		}
	}
}

/* The rules of a zone of policies have one name, and are counted together. */
static bool
is_one_with_previous(const struct rules *rules, unsigned int number)
{
	struct rules_rule rule, previous;

	if (number == 1)
		return false;
	rules_get(rules, number, &rule);
	rules_get(rules, number - 1, &previous);
	return rule.name_length == previous.name_length &&
	    memcmp(rule.name, previous.name, rule.name_length) == 0;
}

struct policy_counter **
policy_status_assign(struct status_policy *page, const struct rules *rules)
{
	const unsigned int all = rules_count(rules);
	const unsigned int first = all < STATUS_RULES ? all : STATUS_RULES;
	struct policy_counter **counters = all == 0 ? NULL :
	    calloc(all, sizeof(struct policy_counter *));
	struct status_rule *place;

	if (counters == NULL) {
		keep_places(page, rules, 0, NULL);
		return NULL;
	}
	keep_places(page, rules, first, counters);
	/* There are as many places as rules that are to have one. */
	place = page->rules;
	for (unsigned int n = 1; n <= first; n++) {
		struct rules_rule rule;

		if (counters[n - 1] != NULL)
			continue;
		if (is_one_with_previous(rules, n)) {
			counters[n - 1] = counters[n - 2];
			continue;
		}
		while (atomic_load(&place->number) != 0)
			place++;
		rules_get(rules, n, &rule);
		place->name.length = rule.name_length;
		memcpy(place->name.text, rule.name, rule.name_length);
		atomic_store(&place->number, n);
		counters[n - 1] = &place->counter;
	}
	for (unsigned int n = first; n < all; n++)
		counters[n] = is_one_with_previous(rules, n + 1) ?
		    counters[n - 1] : &page->rules[STATUS_RULES].counter;
	atomic_store(&page->rules[STATUS_RULES].number, all - first);
	return counters;
}

static struct policy_shown
shown_of(const struct status_rule *place)
{
	struct policy_shown shown = {
		.number = atomic_load(&place->number),
		.enforced = load(&place->counter.enforced) & COUNT_MASK,
		.observed = load(&place->counter.observed) & COUNT_MASK,
		.limited = load(&place->counter.limited) & INT64_MAX,
	};
	const uint8_t length = place->name.length;

	shown.matched = shown.enforced + shown.observed;
	for (size_t i = 0; i < length && i < RULE_NAME_MAX; i++) {
		const char c = place->name.text[i];

		shown.name[i] = c > ' ' && c < 0x7f && c != '"' &&
		    c != '\\' ? c : '?';
	}
	return shown;
}

static int
compare_shown(const void *left, const void *right)
{
	const struct policy_shown *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

size_t
policy_status_read(const struct status_policy *page,
    struct policy_shown **shown)
{
	struct policy_shown *list = calloc(STATUS_RULES + 1, sizeof(*list));
	size_t count = 0;

	*shown = list;
	for (size_t i = 0; i < STATUS_RULES && list != NULL; i++) {
		list[count] = shown_of(&page->rules[i]);
		count += list[count].number != 0;
	}
	if (list == NULL)
		return 0;
	qsort(list, count, sizeof(*list), compare_shown);
	list[count] = shown_of(&page->rules[STATUS_RULES]);
	(void)snprintf(list[count].name, sizeof(list[count].name), "(others)");
	return count;
}
