/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/config/capture.h"

#include <string.h>

#include "policy/config/setting.h"

/* Rules with names of which each is compared with each. */
#define PAIRS_MAX	4096

/* Whether each question for the one name is for the other, too. */
static bool
name_covers(const struct policy_name *wide, const struct policy_name *narrow)
{
	if (wide->kind == POLICY_SET || narrow->kind == POLICY_SET)
		return wide->kind == narrow->kind && wide->set == narrow->set;
	if (wide->kind == POLICY_EXACT)
		return narrow->kind == POLICY_EXACT &&
		    name_equal(&wide->name, &narrow->name);
	if (!name_is_within(&narrow->name, &wide->name))
		return false;
	/* Of the apex itself only what is below it, if wide has only that. */
	return wide->kind == POLICY_WITHIN || narrow->kind == POLICY_BELOW ||
	    narrow->name.labels > wide->name.labels;
}

/* Whether each item of one span is within some item of the other. */
static bool
span_covers(const struct policy_span *wide, const struct policy_span *narrow,
    const void *items, size_t size, bool (*covers)(const void *, const void *))
{
	const uint8_t *octets = items;

	for (uint32_t i = 0; i < narrow->count; i++) {
		uint32_t k = 0;

		while (k < wide->count && !covers(octets + (wide->first + k) *
		    size, octets + (narrow->first + i) * size))
			k++;
		if (k == wide->count)
			return false;
	}
	return true;
}

static bool
covers_name(const void *wide, const void *narrow)
{
	return name_covers(wide, narrow);
}

static bool
covers_prefix(const void *wide, const void *narrow)
{
	return policy_prefix_covers(wide, narrow);
}

static bool
covers_number(const void *wide, const void *narrow)
{
	return memcmp(wide, narrow, sizeof(uint32_t)) == 0;
}

/*
 * Whether "wide" holds wherever "narrow" does: a condition that is not given
 * always holds.
 */
static bool
names_cover(const struct policy *p, const struct policy_conditions *wide,
    const struct policy_conditions *narrow)
{
	return wide->names.count == 0 || (narrow->names.count > 0 &&
	    span_covers(&wide->names, &narrow->names, p->names,
	    sizeof(*p->names), covers_name));
}

static bool
numbers_cover(const struct policy *p, const struct policy_span *wide,
    const struct policy_span *narrow)
{
	return wide->count == 0 || (narrow->count > 0 && span_covers(wide,
	    narrow, p->numbers, sizeof(*p->numbers), covers_number));
}

static bool
prefixes_cover(const struct policy *p, const struct policy_span *wide,
    const struct policy_span *narrow)
{
	return wide->count == 0 || (narrow->count > 0 && span_covers(wide,
	    narrow, p->prefixes, sizeof(*p->prefixes), covers_prefix));
}

static bool
bits_cover(uint32_t wide, uint32_t narrow)
{
	return wide == 0 || (narrow != 0 && (narrow & ~wide) == 0);
}

static bool
conditions_cover(const struct policy *p, const struct policy_conditions *wide,
    const struct policy_conditions *narrow)
{
	return bits_cover(wide->protocols, narrow->protocols) &&
	    bits_cover(wide->source, narrow->source) &&
	    numbers_cover(p, &wide->types, &narrow->types) &&
	    numbers_cover(p, &wide->users, &narrow->users) &&
	    numbers_cover(p, &wide->groups, &narrow->groups) &&
	    prefixes_cover(p, &wide->nameservers, &narrow->nameservers) &&
	    prefixes_cover(p, &wide->clients, &narrow->clients) &&
	    names_cover(p, wide, narrow);
}

static bool
has_conditions(const struct policy_conditions *c)
{
	return c->names.count > 0 || c->types.count > 0 ||
	    c->users.count > 0 || c->groups.count > 0 ||
	    c->nameservers.count > 0 || c->clients.count > 0 ||
	    c->protocols != 0 || c->source != 0;
}

/* Whether matching ends with the rule, whatever matches it. */
static bool
always_decides(const struct policy_rule *rule)
{
	return rule->zone == 0 && rule->action != RULE_NOTHING &&
	    rule->action != RULE_REWRITE && rule->observe == 0 &&
	    rule->log != RULE_LOG_ONLY && !has_conditions(&rule->not);
}

static void
check_rule(const struct policy *policy, size_t number, bool pairs,
    struct diag *diag)
{
	const struct policy_rule *rule = &policy->rules[number];
	char place[CONFIG_TEXT_SIZE];

	for (size_t i = 0; i < number; i++) {
		const struct policy_rule *before = &policy->rules[i];

		if (!always_decides(before) ||
		    (!pairs && before->match.names.count > 0) ||
		    !conditions_cover(policy, &before->match, &rule->match))
			continue;
		diag_add(diag, DIAG_WARNING, rule->file, rule->line, "policy[%zu]"
		    ": rule \"%s\" never matches: rule \"%s\" in %s decides "
		    "about all questions that it is for; put it before that "
		    "one, or take it out", number, rule->name, before->name,
		    config_place(before->file,
		    before->line, rule->file, place));
		return;
	}
}

/* The group of a socket is the one that its process had then: credentials(7). */
static void
check_groups(const struct policy *policy, size_t number, struct diag *diag)
{
	const struct policy_rule *rule = &policy->rules[number];

	if (rule->match.groups.count > 0 && rule->observe == 0 &&
	    policy_action_denies(rule->action, &rule->rate))
		diag_add(diag, DIAG_WARNING, rule->file, rule->line, "policy[%zu]: "
		    "rule \"%s\" denies by group: a user who is in another "
		    "group as well evades it with sg(1) or a set-group-ID "
		    "file; deny users, or allow groups and deny all others "
		    "behind them",
		    number, rule->name);
}

void
policy_check_order(const struct policy *policy, struct diag *diag)
{
	size_t named = 0;

	for (size_t i = 0; i < policy->rule_count; i++)
		named += policy->rules[i].match.names.count > 0;
	for (size_t i = 0; i < policy->rule_count; i++) {
		check_groups(policy, i, diag);
		check_rule(policy, i, named <= PAIRS_MAX, diag);
	}
}

bool
policy_could_deny(const struct policy *policy)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->observe == 0 &&
		    rule->log != RULE_LOG_ONLY && (rule->zone != 0 ||
		    policy_action_denies(rule->action, &rule->rate)))
			return true;
	}
	return false;
}

void
policy_check_gaps(const struct policy *policy, const struct policy_gaps *gaps,
    const char *file, struct diag *diag)
{
	if (!policy_could_deny(policy))
		return;
	if (gaps->absent_passes)
		diag_add(diag, DIAG_NOTE, file, 0, "while nfdnsd does not run, "
		    "no rule of the policy holds (queue.absent = \"drop\" "
		    "changes that)");
	if (!gaps->tcp)
		diag_add(diag, DIAG_WARNING, file, 0, "capture.tcp: without it "
		    "no rule of the policy holds over TCP: what it denies is "
		    "resolved that way; write tcp = true");
	if (gaps->overload_passes)
		diag_add(diag, DIAG_WARNING, file, 0, "queue.overload: a policy "
		    "that denies questions has no use for \"pass\": what a full "
		    "queue has no room for is dropped; write overload = "
		    "\"drop\"");
}
