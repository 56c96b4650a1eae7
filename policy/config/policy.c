/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A rule of the policy as a whole, and all of them. */
#include "policy/config/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/config/capture.h"

/* "action, cname": what the rule does, of which it may do one. */
static const char *
given_text(uint32_t given, char text[static CONFIG_TEXT_SIZE])
{
	static const char *const words[] = { "action", "addresses", "cname",
		"rewrite", "only", "format" };
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((given >> i & 1) != 0)
			n += (size_t)snprintf(text + n, CONFIG_TEXT_SIZE - n,
			    "%s%s", n > 0 ? " and " : "", words[i]);
	return text;
}

static enum rule_action
action_of(const struct policy_rule *rule)
{
	switch (rule->given) {
	case GIVEN_ADDRESSES:
		return RULE_ADDRESSES;
	case GIVEN_CNAME:
		return RULE_CNAME;
	case GIVEN_REWRITE:
		return RULE_REWRITE;
	case GIVEN_FILTER:
		return RULE_FILTER;
	case GIVEN_ACTION:
		return rule->action;
	default:
		return RULE_NOTHING;
	}
}

/* A rule does one thing. */
static void
check_action(const struct config_load *load, const config_setting_t *value,
    struct policy_rule *rule)
{
	char text[CONFIG_TEXT_SIZE];

	if (__builtin_popcount(rule->given) > 1)
		config_wrong(load, value, "found %s, which contradict each "
		    "other; a rule does one thing: make two rules of it",
		    given_text(rule->given, text));
	else if (rule->log == RULE_LOG_ONLY && (rule->given != 0 ||
	    rule->rate.limit > 0 || rule->observe != 0))
		config_wrong(load, value, "log = \"only\" contradicts %s: such "
		    "a rule does nothing else; write log = true, or take the "
		    "other out", rule->given != 0 ?
		    given_text(rule->given, text) : rule->rate.limit > 0 ?
		    "rate" : "mode = \"observe\"");
	else if (rule->given == 0 && rule->log != RULE_LOG_ONLY &&
	    rule->rate.limit == 0)
		config_wrong(load, value, "the rule does nothing: give it one "
		    "of action, addresses, cname, rewrite, only, rate, "
		    "log = \"only\"");
	rule->action = action_of(rule);
}

static void
check_rewrite(const struct config_load *load, const config_setting_t *value,
    const struct policy_rule *rule)
{
	const config_setting_t *rewrite =
	    config_setting_get_member(value, "rewrite");

	if (rewrite == NULL)
		return;
	if (config_setting_get_member(rewrite, "from") == NULL ||
	    config_setting_get_member(rewrite, "to") == NULL)
		config_wrong(load, rewrite, "\"from\" or \"to\" is missing");
	else if (rule->to.kind == POLICY_BELOW &&
	    rule->from.kind != POLICY_BELOW)
		config_wrong(load, rewrite, "\"to\" begins with \"*\" and "
		    "\"from\" does not: there is nothing to put there");
}

/* Whether one of these names stands for those of a file. */
static bool
has_file(const struct policy *policy, const struct policy_span *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		if (policy->names[names->first + i].kind == POLICY_SET)
			return true;
	return false;
}

/* A zone of policies has names and answers of its own. */
static void
check_zone(const struct config_load *load, const config_setting_t *value,
    const struct policy_rule *rule)
{
	const bool whole = (rule->given & GIVEN_ZONE) != 0 && rule->zone != 0 &&
	    rule->origin.length > 0;

	if (!whole && rule->watch != 0 &&
	    !has_file(&load->config->policy, &rule->match.names) &&
	    !has_file(&load->config->policy, &rule->not.names))
		config_wrong(load, config_setting_get_member(value, "watch"),
		    "the rule has neither a zone nor a file of names; take it "
		    "out");
	else if (!whole && ((rule->given & GIVEN_ZONE) != 0 || rule->zone != 0 ||
	    rule->origin.length > 0))
		config_wrong(load, value, "a zone of policies needs format, "
		    "path and origin, all three");
	else if (whole && (rule->match.names.count > 0 ||
	    rule->not.names.count > 0))
		config_wrong(load, value, "\"names\" contradicts format: the "
		    "zone's own names count; take it out");
	else if (whole && rule->rate.limit > 0)
		config_wrong(load, value, "\"rate\" contradicts format: give "
		    "the rate to another rule");
	else if (whole && strlen(rule->name) + strlen(RULE_ZONE_PREFIX) >
	    RULE_NAME_MAX)
		config_wrong(load, value, "\"name\" is longer than %zu "
		    "characters, and its rules begin with \"%s\"",
		    RULE_NAME_MAX - strlen(RULE_ZONE_PREFIX),
		    RULE_ZONE_PREFIX);
}

/* Members that mean something beside others only. */
static void
check_beside(const struct config_load *load, const config_setting_t *value,
    struct policy_rule *rule)
{
	const config_setting_t *ttl = config_setting_get_member(value, "ttl");
	const config_setting_t *rate = config_setting_get_member(value, "rate");

	if (ttl != NULL && (rule->given & (GIVEN_ADDRESSES | GIVEN_CNAME)) == 0)
		config_wrong(load, ttl, "only rules with addresses or cname "
		    "have this option; take it out");
	if (rate != NULL && rule->rate.limit == 0)
		config_wrong(load, rate, "\"limit\" is missing");
	check_rewrite(load, value, rule);
	check_zone(load, value, rule);
}

void
config_read_rules(const struct config_load *load,
    const struct config_option *option, const config_setting_t *value, void *to)
{
	struct policy *policy = to;
	struct policy_rule *rule = config_append(load, &policy->rules,
	    &policy->rule_count, sizeof(*rule));

	(void)option;
	if (rule == NULL)
		return;
	rule->file = load->path;
	rule->line = config_setting_source_line(value);
	rule->ttl = load->config->mesh.ttl;
	config_option_read_members(load, "policy[].", value, rule);
	if (rule->name[0] == '\0')
		(void)snprintf(rule->name, sizeof(rule->name), "rule-%zu",
		    policy->rule_count);
	check_beside(load, value, rule);
	check_action(load, value, rule);
}

static int
compare_rules(const void *left, const void *right)
{
	const struct policy_rule *const *a = left, *const *b = right;
	const int order = strcmp((*a)->name, (*b)->name);

	return order != 0 ? order : *a < *b ? -1 : 1;
}

/* Rules are told apart by their names, in logs and counters. */
static void
check_names(const struct config_load *load)
{
	struct policy *policy = &load->config->policy;
	const struct policy_rule **sorted =
	    calloc(policy->rule_count + 1, sizeof(*sorted));
	char place[CONFIG_TEXT_SIZE];

	if (sorted == NULL) {
		diag_add(load->diag, DIAG_ERROR, load->file, 0,
		    "out of memory");
		return;
	}
	for (size_t i = 0; i < policy->rule_count; i++)
		sorted[i] = &policy->rules[i];
	qsort(sorted, policy->rule_count, sizeof(*sorted), compare_rules);
	for (size_t i = 1; i < policy->rule_count; i++)
		if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0)
			diag_add(load->diag, DIAG_ERROR, sorted[i]->file,
			    sorted[i]->line, "policy[%td].name: the rule in %s "
			    "is named \"%s\", too; give one of them another "
			    "name", sorted[i] - policy->rules, config_place(
			    sorted[i - 1]->file, sorted[i - 1]->line,
			    sorted[i]->file, place), sorted[i]->name);
	free(sorted);
}

/*
 * Files of names are opened when the tables are; a configuration that is refused
 * does not get that far, so that it is told here which are not there.
 */
static void
check_sets(const struct config_load *load)
{
	const struct policy *policy = &load->config->policy;

	for (size_t i = 0; load->diag->errors > 0 && i < policy->set_count;
	    i++)
		if (policy->sets[i].path != NULL &&
		    access(policy->sets[i].path, R_OK) < 0)
			diag_add(load->diag, DIAG_WARNING, policy->sets[i].file,
			    policy->sets[i].line, "policy: the names in %s "
			    "cannot be read: %s", policy->sets[i].path,
			    strerror(errno));
}

void
config_complete_policy(const struct config_load *load)
{
	struct policy *policy = &load->config->policy;

	check_names(load);
	check_sets(load);
	if (load->diag->errors == 0)
		policy_check_order(policy, load->diag);
}

void
policy_clear(struct policy *policy)
{
	for (size_t i = 0; i < policy->set_count; i++)
		free(policy->sets[i].path);
	free(policy->sets);
	free(policy->rules);
	free(policy->names);
	free(policy->numbers);
	free(policy->prefixes);
	free(policy->addresses);
	memset(policy, 0, sizeof(*policy));
}
