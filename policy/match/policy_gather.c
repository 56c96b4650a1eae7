/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_gather.h"

#include <netinet/in.h>
#include <string.h>

/* What the rule says about the question, if it decides. */
static struct ruling
ruling_of(const struct rules_rule *rule, unsigned int number, bool limited)
{
	return (struct ruling){
		.rule = (uint16_t)number,
		.limited = limited,
		.strip_https = rule->strip_https,
		.only = rule->only,
		.action = limited ? (enum rule_action)rule->rate.over :
		    rule->action,
	};
}

static void
count_up(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void
count(const struct policy_source *source, const struct rules_rule *rule,
    unsigned int number, bool limited)
{
	struct policy_counter *counter;

	if (source->counters == NULL)
		return;
	counter = source->counters[number - 1];
	count_up(rule->observe ? &counter->observed : &counter->enforced);
	if (limited)
		count_up(&counter->limited);
}

/* The first that would have decided is the one that is told. */
static void
observe(const struct rules_rule *rule, unsigned int number, bool limited,
    struct policy_found *found)
{
	if (found->observed != 0)
		return;
	found->observed = (uint16_t)number;
	found->observed_limited = limited;
	found->observer.length = rule->name_length;
	memcpy(found->observer.text, rule->name, rule->name_length);
	found->would = limited ? (enum rule_action)rule->rate.over :
	    rule->action;
}

/* Whether the rule ends the search; if it only observes, that is noted. */
static bool
decides(const struct policy_source *source,
    const struct rules_question *question, unsigned int number,
    struct policy_found *found)
{
	const struct rules_rule *rule = &found->rule;
	const bool limited = rule->rate.limit > 0 && source->rates != NULL &&
	    !rate_take(source->rates, rule, question);

	count(source, rule, number, limited);
	/* What is only observed is of use only if it is told. */
	if (rule->log == RULE_LOG_ALL || rule->log == RULE_LOG_ONLY ||
	    (rule->observe && rule->log != RULE_LOG_NONE))
		found->is_logged = found->is_logged ||
		    rate_take_record(source->rates, rule, question);
	if (rule->log == RULE_LOG_ONLY ||
	    (rule->action == RULE_NOTHING && !limited))
		return false;
	if (rule->observe) {
		observe(rule, number, limited, found);
		return false;
	}
	found->ruling = ruling_of(rule, number, limited);
	if (found->ruling.action == RULE_TCP_ONLY &&
	    question->asker->protocol == IPPROTO_TCP)
		found->ruling.action = RULE_ANSWER;
	found->is_not_logged = rule->log == RULE_LOG_NONE;
	return true;
}

void
policy_gather(const struct policy_source *source,
    const struct rules_question *question, struct policy_found *found)
{
	struct rules_cursor cursor;
	unsigned int number;

	found->ruling.rule = 0;
	found->observed = 0;
	found->observed_limited = false;
	found->observer.length = 0;
	found->is_logged = false;
	found->is_not_logged = false;
	if (source->rules == NULL)
		return;
	rules_begin(&cursor, source->rules, question);
	while ((number = rules_next(&cursor)) != 0) {
		rules_get_for(&cursor, number, &found->rule);
		if (decides(source, question, number, found))
			return;
	}
}
