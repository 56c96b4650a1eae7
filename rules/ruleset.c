/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wanted in the kernel, in the order in which a packet meets it:
 *
 * question  1  not UDP, not to port 53: nothing of ours, out at once
 *           2  the canary: before the bypasses, which must not hide a queue
 *              that does not work from it
 *           3  whoever is to see the real nameservers: out, not queued
 *           4  questions: marked as passed, counted, queued
 * verdict   5  still marked as passed: own conntrack zone, mark cleared
 *           6  marked as answered by the verdict: no conntrack entry
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/cgroup.h"
#include "rules/ruleset.h"

/* Rules that there are whatever the config says: at most this many. */
#define FIXED_RULES 9

static const char *const set_names[RULES_SETS] = {
	[SET_BYPASS4] = "bypass4",
	[SET_BYPASS6] = "bypass6",
	[SET_NAMESERVERS4] = "nameservers4",
	[SET_NAMESERVERS6] = "nameservers6",
};

const char *
rules_chain_name(enum rules_chain chain)
{
	return chain == CHAIN_QUESTION ? RULES_CHAIN_QUESTION :
	    RULES_CHAIN_VERDICT;
}

/* Both before raw (-300) and conntrack (-200): a zone can only be set before. */
int
rules_chain_priority(enum rules_chain chain)
{
	return chain == CHAIN_QUESTION ? -310 : -305;
}

const char *
rules_set_name(enum rules_set_id set)
{
	return set_names[set];
}

enum rules_set_id
rule_set_id(const struct rule *rule)
{
	switch (rule->match) {
	case MATCH_DESTINATION4:
		return SET_BYPASS4;
	case MATCH_DESTINATION6:
		return SET_BYPASS6;
	case MATCH_NAMESERVER4:
		return SET_NAMESERVERS4;
	case MATCH_NAMESERVER6:
		return SET_NAMESERVERS6;
	default:
		return RULES_SETS;
	}
}

uint32_t
ruleset_canary_mark(const struct config *config)
{
	return config->capture.mark_mask;
}

/* Appends; ruleset_build() made room for all. */
__attribute__((format(printf, 5, 6)))
static struct rule *
add_rule(struct ruleset *set, enum rules_chain chain, enum rule_match match,
    enum rule_action action, const char *comment, ...)
{
	struct rule *rule = &set->rules[set->count++];
	va_list arguments;

	rule->chain = chain;
	rule->match = match;
	rule->action = action;
	va_start(arguments, comment);
	vsnprintf(rule->comment, sizeof(rule->comment), comment, arguments);
	va_end(arguments);
	return rule;
}

static void
add_bypass_ids(struct ruleset *set, const struct config_bypass *bypass)
{
	for (size_t i = 0; i < bypass->user_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_USER, ACTION_ACCEPT,
		    "bypass: user %u", bypass->users[i])->arg.id =
		    bypass->users[i];
	for (size_t i = 0; i < bypass->group_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_GROUP, ACTION_ACCEPT,
		    "bypass: group %u", bypass->groups[i])->arg.id =
		    bypass->groups[i];
	for (size_t i = 0; i < bypass->mark_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_MARK, ACTION_ACCEPT,
		    "bypass: mark 0x%" PRIx32 "/0x%" PRIx32,
		    bypass->marks[i].value, bypass->marks[i].mask)->arg.mark =
		    bypass->marks[i];
	for (size_t i = 0; i < bypass->classid_count; i++)
		add_rule(set, CHAIN_QUESTION, MATCH_CLASSID, ACTION_ACCEPT,
		    "bypass: net_cls class 0x%" PRIx32,
		    bypass->classids[i])->arg.id = bypass->classids[i];
}

/* 0, or -EINVAL with an error for each that cannot be found. */
static int
add_bypass_cgroups(struct ruleset *set, const struct config *config,
    struct diag *diag)
{
	const struct config_bypass *bypass = &config->capture.bypass;
	int rc = 0;

	for (size_t i = 0; i < bypass->cgroup_count; i++) {
		const struct config_cgroup *cgroup = &bypass->cgroups[i];
		struct cgroup_position position;
		const char *why;

		if (cgroup_find(cgroup->path, &position, &why) != 0) {
			diag_add(diag, DIAG_ERROR, config->path, cgroup->line,
			    "capture.bypass.cgroups: cgroup \"%s\" %s",
			    cgroup->path, why);
			rc = -EINVAL;
			continue;
		}
		struct rule *rule = add_rule(set, CHAIN_QUESTION, MATCH_CGROUP,
		    ACTION_ACCEPT, "bypass: cgroup %s", cgroup->path);
		rule->arg.cgroup.id = position.id;
		rule->arg.cgroup.level = position.level;
		rule->arg.cgroup.path = cgroup->path;
	}
	return rc;
}

static void
add_bypass_destinations(struct ruleset *set)
{
	if (set->sets[SET_BYPASS4].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_DESTINATION4,
		    ACTION_ACCEPT, "bypass: IPv4 destinations");
	if (set->sets[SET_BYPASS6].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_DESTINATION6,
		    ACTION_ACCEPT, "bypass: IPv6 destinations");
}

static void
add_questions(struct ruleset *set, bool any_nameserver)
{
	if (any_nameserver)
		add_rule(set, CHAIN_QUESTION, MATCH_QUESTION, ACTION_QUEUE,
		    "questions");
	if (set->sets[SET_NAMESERVERS4].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_NAMESERVER4, ACTION_QUEUE,
		    "questions to IPv4 nameservers");
	if (set->sets[SET_NAMESERVERS6].count > 0)
		add_rule(set, CHAIN_QUESTION, MATCH_NAMESERVER6, ACTION_QUEUE,
		    "questions to IPv6 nameservers");
}

static void
add_verdicts(struct ruleset *set)
{
	struct rule *rule = add_rule(set, CHAIN_VERDICT, MATCH_MARK,
	    ACTION_SET_ZONE, "passed: conntrack zone %u", set->zone);

	rule->arg.mark.value = set->mark_passed;
	rule->arg.mark.mask = set->mark_mask;
	rule = add_rule(set, CHAIN_VERDICT, MATCH_MARK, ACTION_NOTRACK,
	    "answered: not tracked");
	rule->arg.mark.value = set->mark_answered;
	rule->arg.mark.mask = set->mark_mask;
}

static int
fill_sets(struct ruleset *set, const struct config_capture *capture)
{
	const struct config_bypass *bypass = &capture->bypass;

	for (size_t i = 0; i < RULES_SETS; i++) {
		bool is_bypass = i == SET_BYPASS4 || i == SET_BYPASS6;
		int rc;

		if (!is_bypass && capture->any_nameserver)
			continue;
		rc = is_bypass ? address_set_fill(&set->sets[i],
		    bypass->destinations, bypass->destination_count) :
		    address_set_fill(&set->sets[i], capture->nameservers,
		    capture->nameserver_count);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* All but rules and sets' contents. */
static void
set_values(struct ruleset *set, const struct config *config)
{
	*set = (struct ruleset){
		.mark_mask = config->capture.mark_mask,
		.mark_passed = config->capture.mark_passed,
		.mark_answered = config->capture.mark_answered,
		.zone = config->capture.zone,
		.queue_number = config->queue.number,
		.queue_count = (uint16_t)config->queue.workers,
		.queue_bypass = !config->queue.absent_drop,
	};
	for (size_t i = 0; i < RULES_SETS; i++) {
		set->sets[i].name = set_names[i];
		set->sets[i].family = i == SET_BYPASS4 ||
		    i == SET_NAMESERVERS4 ? AF_INET : AF_INET6;
	}
}

int
ruleset_build(struct ruleset *set, const struct config *config,
    enum rules_stage stage, struct diag *diag)
{
	const struct config_capture *capture = &config->capture;
	const struct config_bypass *bypass = &capture->bypass;
	int rc = 0;

	set_values(set, config);
	set->rules = calloc(FIXED_RULES + bypass->user_count +
	    bypass->group_count + bypass->mark_count + bypass->cgroup_count +
	    bypass->classid_count, sizeof(*set->rules));
	if (set->rules == NULL)
		return -ENOMEM;
	if (stage == RULES_FULL)
		rc = fill_sets(set, capture);
	if (rc != 0)
		goto fail;

	add_rule(set, CHAIN_QUESTION, MATCH_NOT_UDP, ACTION_ACCEPT, "not UDP");
	add_rule(set, CHAIN_QUESTION, MATCH_NOT_PORT53, ACTION_ACCEPT,
	    "not DNS");
	add_rule(set, CHAIN_QUESTION, MATCH_QUESTION, ACTION_QUEUE,
	    RULES_COMMENT_CANARY)->canary = true;
	if (stage == RULES_FULL) {
		add_bypass_ids(set, bypass);
		rc = add_bypass_cgroups(set, config, diag);
		if (rc != 0)
			goto fail;
		add_bypass_destinations(set);
		add_questions(set, capture->any_nameserver);
	}
	add_verdicts(set);
	return 0;
fail:
	ruleset_free(set);
	return rc;
}

void
ruleset_free(struct ruleset *set)
{
	for (size_t i = 0; i < RULES_SETS; i++)
		address_set_free(&set->sets[i]);
	free(set->rules);
	set->rules = NULL;
	set->count = 0;
}
