/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/status/policy_status.h"

#include <inttypes.h>
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

static void
clear(struct status_rule *place)
{
	atomic_store(&place->counter.enforced, 0);
	atomic_store(&place->counter.observed, 0);
	atomic_store(&place->counter.limited, 0);
	place->name.length = 0;
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
		if (number != 0)
			counters[number - 1] = &place->counter;
		else
			clear(place);
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

/* There are as many places as rules that are to have one. */
static void
give_places(struct status_policy *page, const struct rules *rules,
    unsigned int count, struct policy_counter **counters)
{
	struct status_rule *place = page->rules;

	for (unsigned int n = 1; n <= count; n++) {
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
}

struct policy_counter **
policy_status_assign(struct status_policy *page, const struct rules *rules)
{
	const unsigned int all = rules_count(rules);
	const unsigned int first = all < STATUS_RULES ? all : STATUS_RULES;
	struct policy_counter **counters = all == 0 ? NULL :
	    calloc(all, sizeof(struct policy_counter *));

	if (counters == NULL) {
		keep_places(page, rules, 0, NULL);
		return NULL;
	}
	keep_places(page, rules, first, counters);
	give_places(page, rules, first, counters);
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
    struct policy_shown **shown, struct policy_shown *others)
{
	struct policy_shown *list = calloc(STATUS_RULES, sizeof(*list));
	size_t count = 0;

	*shown = list;
	*others = shown_of(&page->rules[STATUS_RULES]);
	for (size_t i = 0; i < STATUS_RULES && list != NULL; i++) {
		list[count] = shown_of(&page->rules[i]);
		count += list[count].number != 0;
	}
	if (list != NULL)
		qsort(list, count, sizeof(*list), compare_shown);
	return count;
}

static void
print_one(const struct policy_shown *shown, const char *name, int column, FILE *out)
{
	const int width = fprintf(out, "policy.%s", name);

	(void)fprintf(out, "%*s%" PRIu64 " questions", width < column ?
	    column - width : 1, "", shown->matched);
	if (shown->observed > 0)
		(void)fprintf(out, ", %" PRIu64 " only observed",
		    shown->observed);
	if (shown->limited > 0)
		(void)fprintf(out, ", %" PRIu64 " over the limit",
		    shown->limited);
	(void)fputc('\n', out);
}

void
policy_status_print(const struct status_policy *page, int column, FILE *out)
{
	struct policy_shown *shown, others;
	const size_t count = policy_status_read(page, &shown, &others);

	for (size_t i = 0; i < count; i++)
		if (shown[i].matched > 0)
			print_one(&shown[i], shown[i].name, column, out);
	if (others.matched > 0)
		print_one(&others, "(others)", column, out);
	if (load(&page->rates_full) > 0)
		(void)fprintf(out, "%-*s%" PRIu64 "\n", column,
		    "policy.rates_full", load(&page->rates_full));
	free(shown);
}

static json_t *
json_of(const struct policy_shown *shown, const char *name)
{
	return json_pack("{s:s*, s:I, s:I, s:I}", "name", name, "matched",
	    (json_int_t)shown->matched, "observed",
	    (json_int_t)shown->observed, "limited",
	    (json_int_t)shown->limited);
}

json_t *
policy_status_json(const struct status_policy *page)
{
	struct policy_shown *shown, others;
	const size_t count = policy_status_read(page, &shown, &others);
	json_t *rules = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(rules,
		    json_of(&shown[i], shown[i].name));
	free(shown);
	return json_pack("{s:I, s:o, s:o}", "rates_full", (json_int_t)
	    (load(&page->rates_full) & INT64_MAX), "rules", rules, "others",
	    json_of(&others, NULL));
}
