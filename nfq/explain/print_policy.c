/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/explain/print_policy.h"

#include <string.h>

#include "nfq/explain/lines.h"
#include "nfq/explain/words.h"

#define FEW		10	/* so many rules are all printed */

static const char *const parts[] = {
	[EXPLAIN_MISSED] = "missed", [EXPLAIN_DECIDES] = "decides",
	[EXPLAIN_OBSERVES] = "observes", [EXPLAIN_LOGS] = "logs",
	[EXPLAIN_COUNTS] = "counts", [EXPLAIN_BEHIND] = "behind",
};

/* Rules that no person wrote have a name that no person may give. */
static bool
is_written(const struct rules_rule *rule)
{
	return memchr(rule->name, ':', rule->name_length) == NULL;
}

static unsigned int
count_written(const struct rules *rules)
{
	unsigned int written = 0;

	for (unsigned int i = rules_count(rules); i > 0; i--) {
		struct rules_rule rule;

		rules_get(rules, i, &rule);
		written += is_written(&rule);
	}
	return written;
}

/* Whether nobody who asks about this name wants to read of the rule. */
static bool
is_far(enum explain_part part, const struct rules_miss *miss)
{
	return part == EXPLAIN_BEHIND || (part == EXPLAIN_MISSED &&
	    miss->key == RULE_NAMES && !miss->negated);
}

/* Where it stands: " (line 12)"; nothing for rules that nobody wrote. */
static const char *
place(const struct rules_rule *rule, char buf[static 24])
{
	buf[0] = '\0';
	if (rule->line > 0)
		(void)snprintf(buf, 24, " (line %u)", rule->line);
	return buf;
}

/* What the rule is to the question, in words. */
static void
put_part(const struct explanation *e, enum explain_part part,
    const struct rules_rule *rule, const struct rules_miss *miss, char *buf,
    size_t size)
{
	char text[WORDS_MISS], action[WORDS_ACTION], line[24];

	switch (part) {
	case EXPLAIN_MISSED:
		(void)snprintf(buf, size, "no: %s", words_miss(e, miss, text));
		break;
	case EXPLAIN_DECIDES:
		(void)snprintf(buf, size, "yes, decides: %s%s",
		    words_action(rule, action), place(rule, line));
		break;
	case EXPLAIN_OBSERVES:
		(void)snprintf(buf, size, "yes, only observes: %s%s",
		    words_action(rule, action), place(rule, line));
		break;
	case EXPLAIN_LOGS:
		(void)snprintf(buf, size, "yes, only logs");
		break;
	case EXPLAIN_COUNTS:
		(void)snprintf(buf, size, "yes, within its rate of %u a second",
		    rule->rate.limit);
		break;
	default:
		(void)snprintf(buf, size, "not asked");
		break;
	}
}

static void
print_rule(const struct explanation *e, unsigned int number, bool first,
    FILE *out)
{
	char text[LINES_TEXT / 2], rate[64] = "", name[NAME_TEXT_SIZE];
	struct rules_rule rule;
	struct rules_miss miss;
	const enum explain_part part = explain_rule(e, number, &rule, &miss);

	put_part(e, part, &rule, &miss, text, sizeof(text));
	if (rule.rate.limit > 0 && part == EXPLAIN_DECIDES)
		(void)snprintf(rate, sizeof(rate), ", as long as it is within %u "
		    "a second", rule.rate.limit);
	lines_print(out, first ? "Policy" : "", "%u \"%.*s\": %s%s", number,
	    rule.name_length, rule.name, text, rate);
	if (part == EXPLAIN_DECIDES && explain_judged(e) != NULL)
		lines_print(out, "", "it denies %s, from which the name is "
		    "answered", name_to_text(explain_judged(e)->octets, name));
}

/* Whether it is printed, "all" aside: of few written rules, each. */
static bool
is_shown(const struct explanation *e, unsigned int number, bool few,
    bool *written)
{
	struct rules_rule rule;
	struct rules_miss miss;
	const enum explain_part part = explain_rule(e, number, &rule, &miss);

	*written = is_written(&rule);
	return (few && *written) || !is_far(part, &miss);
}

void
explain_print_policy(const struct explanation *e, bool all, FILE *out)
{
	const unsigned int count = rules_count(e->source->policy);
	const bool few = count_written(e->source->policy) <= FEW;
	unsigned int far = 0, printed = 0;

	for (unsigned int i = 1; i <= count; i++) {
		bool written = true;

		if (all || is_shown(e, i, few, &written))
			print_rule(e, i, printed++ == 0, out);
		else
			far += written;
	}
	if (far > 0)
		lines_print(out, printed == 0 ? "Policy" : "",
		    "%u rules are for other names, or behind the one that "
		    "decides", far);
}

static json_t *
rule_json(unsigned int number, enum explain_part part,
    const struct rules_rule *rule, const struct rules_miss *miss)
{
	char action[WORDS_ACTION], missed[32];

	(void)snprintf(missed, sizeof(missed), "match.%s%s",
	    part == EXPLAIN_MISSED && miss->negated ? "not." : "",
	    part == EXPLAIN_MISSED ? words_key(miss->key) : "");
	return json_pack("{s:i, s:s%, s:i, s:s, s:s, s:s*}", "number",
	    (int)number, "name", rule->name, (size_t)rule->name_length, "line",
	    (int)rule->line, "outcome", parts[part], "action",
	    words_action(rule, action), "missed",
	    part == EXPLAIN_MISSED ? missed : NULL);
}

static json_t *
name_json(const struct explanation *e, unsigned int number)
{
	struct rules_rule rule;

	if (number == 0)
		return json_null();
	rules_get(e->source->policy, number, &rule);
	return json_stringn(rule.name, rule.name_length);
}

static json_t *
judged_json(const struct explanation *e)
{
	char text[NAME_TEXT_SIZE];

	return explain_judged(e) == NULL ? json_null() :
	    json_string(name_to_text(explain_judged(e)->octets, text));
}

json_t *
explain_policy_json(const struct explanation *e, bool all)
{
	const unsigned int count = rules_count(e->source->policy);
	const bool few = count_written(e->source->policy) <= FEW;
	json_t *rules = json_array();

	for (unsigned int i = 1; i <= count; i++) {
		struct rules_rule rule;
		struct rules_miss miss;
		enum explain_part part;
		bool written;

		if (!all && !is_shown(e, i, few, &written))
			continue;
		part = explain_rule(e, i, &rule, &miss);
		(void)json_array_append_new(rules,
		    rule_json(i, part, &rule, &miss));
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "count", (int)count,
	    "decides", name_json(e, e->in.decision.rule), "judged",
	    judged_json(e), "observed",
	    name_json(e, count > 0 ? e->in.found.observed : 0), "rules",
	    rules);
}
