/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/match/policy_gather.h"

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

/* Whether the rule ends the search; if it only observes, that is noted. */
static bool
decides(const struct policy_source *source,
    const struct rules_question *question, unsigned int number,
    struct policy_found *found)
{
	const struct rules_rule *rule = &found->rule;
	const bool limited = rule->rate.limit > 0 && source->rates != NULL &&
	    !rate_take(source->rates, rule, question);

	if (rule->log == RULE_LOG_ONLY) {
		if (found->logged == 0)
			found->logged = (uint16_t)number;
		return false;
	}
	if (rule->action == RULE_NOTHING && !limited)
		return false;
	if (!rule->observe) {
		found->ruling = ruling_of(rule, number, limited);
		return true;
	}
	if (found->observed == 0) {
		found->observed = (uint16_t)number;
		found->observed_limited = limited;
	}
	return false;
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
	found->logged = 0;
	if (source->rules == NULL)
		return;
	rules_begin(&cursor, source->rules, question);
	while ((number = rules_next(&cursor)) != 0) {
		rules_get(source->rules, number, &found->rule);
		if (decides(source, question, number, found))
			return;
	}
}
