/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random rules and questions: what the compiled rules find is what a reading of
 * the rules as they stand finds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "policy/match/rules.h"
#include "tests/check.h"

#define POLICIES	400
#define QUESTIONS	100
#define RULES		24
#define ITEMS		4096

static unsigned int seed = 14;

static unsigned int
below(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static struct policy_rule all_rules[RULES];
static struct policy_name all_names[ITEMS];
static uint32_t all_numbers[ITEMS];
static struct policy policy;

/* Up to four labels of three letters. */
static struct dns_name
some_name(unsigned int least)
{
	const unsigned int labels = least + below(5 - least);
	struct dns_name name = { .length = 1 };

	for (unsigned int i = 0; i < labels; i++) {
		memmove(name.octets + 2, name.octets, name.length);
		name.octets[0] = 1;
		name.octets[1] = (uint8_t)('a' + below(3));
		name.length = (uint8_t)(name.length + 2);
		name.labels++;
	}
	if (labels == 0)
		name.octets[0] = 0;
	else
		name.octets[name.length - 1] = 0;
	return name;
}

static struct policy_span
some_names(void)
{
	struct policy_span span = { (uint32_t)policy.name_count, 1 + below(4) };

	for (uint32_t i = 0; i < span.count; i++)
		all_names[policy.name_count++] = (struct policy_name){
		    .kind = below(3), .name = some_name(0) };
	return span;
}

static struct policy_span
some_numbers(void)
{
	struct policy_span span = { (uint32_t)policy.number_count,
		1 + below(2) };

	for (uint32_t i = 0; i < span.count; i++)
		all_numbers[policy.number_count++] = 1 + below(3);
	return span;
}

static void
some_conditions(struct policy_conditions *c, unsigned int often)
{
	memset(c, 0, sizeof(*c));
	if (below(8) < often)
		c->names = some_names();
	if (below(8) == 0)
		c->types = some_numbers();
	if (below(8) < 2)
		c->users = some_numbers();
	if (below(8) < 2)
		c->groups = some_numbers();
	if (below(8) == 0)
		c->protocols = 1 + below(2);
	if (below(8) == 0)
		c->source = 1 + below(2);
}

static void
some_policy(void)
{
	policy = (struct policy){ .rules = all_rules, .names = all_names,
		.numbers = all_numbers, .rule_count = 1 + below(RULES) };
	for (size_t i = 0; i < policy.rule_count; i++) {
		struct policy_rule *rule = &all_rules[i];

		memset(rule, 0, sizeof(*rule));
		rule->name[0] = 'r';
		rule->action = RULE_PASS;
		some_conditions(&rule->match, 5);
		if (below(4) == 0)
			some_conditions(&rule->not, 2);
	}
}

/* The reading of the rules as they stand. */

static bool
is_one_of(const struct policy_span *span, const struct dns_name *name)
{
	for (uint32_t i = 0; i < span->count; i++) {
		const struct policy_name *n = &all_names[span->first + i];
		const bool same = name_equal(name, &n->name);

		if (n->kind == POLICY_EXACT ? same : n->kind == POLICY_WITHIN ?
		    name_is_within(name, &n->name) :
		    name_is_within(name, &n->name) && !same)
			return true;
	}
	return false;
}

static bool
has(const struct policy_span *span, uint32_t number)
{
	for (uint32_t i = 0; i < span->count; i++)
		if (all_numbers[span->first + i] == number)
			return true;
	return false;
}

/* Whether each condition that is given is as wanted. */
static bool
all_are(const struct policy_conditions *c, const struct rules_question *q,
    bool wanted)
{
	const uint32_t protocol = q->asker->protocol == IPPROTO_TCP ?
	    RULE_TCP : RULE_UDP;
	const uint32_t source = q->mesh ? RULE_MESH : RULE_OTHER;

	return (c->names.count == 0 ||
	    is_one_of(&c->names, q->name) == wanted) &&
	    (c->types.count == 0 || has(&c->types, q->type) == wanted) &&
	    (c->users.count == 0 ||
	    has(&c->users, q->asker->uid) == wanted) &&
	    (c->groups.count == 0 ||
	    has(&c->groups, q->asker->gid) == wanted) &&
	    (c->protocols == 0 ||
	    ((c->protocols & protocol) != 0) == wanted) &&
	    (c->source == 0 || ((c->source & source) != 0) == wanted);
}

static bool
is_match(size_t i, const struct rules_question *q)
{
	return all_are(&all_rules[i].match, q, true) &&
	    all_are(&all_rules[i].not, q, false);
}

static bool
same_rules(const struct rules *rules, const struct rules_question *q)
{
	struct rules_cursor cursor;
	struct rules_miss miss;

	rules_begin(&cursor, rules, q);
	for (size_t i = 0; i < policy.rule_count; i++) {
		const bool expected = is_match(i, q);

		if (rules_matches(rules, (unsigned int)i + 1, q, &miss) !=
		    expected)
			return false;
		if (expected && rules_next(&cursor) != i + 1)
			return false;
	}
	return rules_next(&cursor) == 0;
}

static void
ask_some(const struct rules *rules)
{
	for (int i = 0; i < QUESTIONS && !test_failed_here; i++) {
		const struct dns_name name = some_name(0);
		const struct asker asker = { .uid = below(4) == 0 ?
		    (uid_t)-1 : below(4), .gid = below(4) == 0 ? (gid_t)-1 :
		    below(4), .family = AF_INET, .protocol = below(2) == 0 ?
		    IPPROTO_TCP : IPPROTO_UDP };
		const struct rules_question question = { &name,
			(uint16_t)(1 + below(3)), below(2) == 0, &asker };

		CHECK(same_rules(rules, &question));
	}
}

TEST(what_is_found_is_what_is_written)
{
	for (int i = 0; i < POLICIES && !test_failed_here; i++) {
		struct diag diag = DIAG_INIT;
		uint8_t *octets = NULL;
		struct rules *rules = NULL;
		const char *why;
		size_t size;

		some_policy();
		CHECK(rules_build(&policy, "test", NULL, &diag, &octets,
		    &size) == 0);
		CHECK(rules_open(&rules, octets, size, &why) == 0);
		if (rules != NULL)
			ask_some(rules);
		rules_close(rules);
		free(octets);
		diag_free(&diag);
	}
	printf("figure: %d policies, %d questions each\n", POLICIES,
	    QUESTIONS);
}

/* Any octet of a section may be wrong: it is refused, or harmless. */
TEST(a_damaged_section_is_harmless)
{
	struct diag diag = DIAG_INIT;
	uint8_t *octets = NULL;
	size_t size, refused = 0;

	some_policy();
	policy.rule_count = 3;
	CHECK(rules_build(&policy, "test", NULL, &diag, &octets, &size) == 0);
	for (size_t i = 0; i < size * 2; i++) {
		const uint8_t before = octets[i / 2];
		struct rules *rules = NULL;
		const char *why;

		octets[i / 2] = (uint8_t)(i % 2 == 0 ? ~before : before ^ 1);
		if (rules_open(&rules, octets, size, &why) == 0) {
			const struct dns_name name = some_name(0);
			const struct asker asker = { .family = AF_INET };
			const struct rules_question question = { &name, 1,
				false, &asker };
			struct rules_cursor cursor;

			rules_begin(&cursor, rules, &question);
			while (rules_next(&cursor) != 0)
				;
		} else
			refused++;
		rules_close(rules);
		octets[i / 2] = before;
	}
	CHECK(refused > 0);
	free(octets);
	diag_free(&diag);
}
