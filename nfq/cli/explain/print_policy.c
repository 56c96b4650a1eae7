/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nfq/cli/explain/print.h"

#include <string.h>

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

/* Where it stands: " (line 12)". */
static const char *
place(const struct rules_rule *rule, char buf[static 24])
{
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

static void
write_rule(unsigned int number, enum explain_part part,
    const struct rules_rule *rule, const struct rules_miss *miss,
    struct json_write *w)
{
	char action[WORDS_ACTION], missed[32];

	json_write_open(w, NULL, '{');
	json_write_number(w, "number", number);
	json_write_octets(w, "name", rule->name, rule->name_length);
	json_write_number(w, "line", rule->line);
	json_write_text(w, "outcome", parts[part]);
	json_write_text(w, "action", words_action(rule, action));
	if (part == EXPLAIN_MISSED) {
		(void)snprintf(missed, sizeof(missed), "match.%s",
		    words_key(miss->key));
		json_write_text(w, "missed", missed);
	}
	json_write_close(w, '}');
}

static void
write_name(const struct explanation *e, const char *key, unsigned int number,
    struct json_write *w)
{
	struct rules_rule rule = { .name = NULL };

	if (number != 0)
		rules_get(e->source->policy, number, &rule);
	json_write_octets(w, key, rule.name, rule.name_length);
}

void
explain_write_policy(const struct explanation *e, bool all,
    struct json_write *w)
{
	const unsigned int count = rules_count(e->source->policy);
	const bool few = count_written(e->source->policy) <= FEW;
	const struct dns_name *judged = explain_judged(e);
	char text[NAME_TEXT_SIZE];

	json_write_open(w, "policy", '{');
	json_write_number(w, "count", count);
	write_name(e, "decides", e->in.decision.rule, w);
	json_write_text(w, "judged", judged == NULL ? NULL :
	    name_to_text(judged->octets, text));
	write_name(e, "observed", count > 0 ? e->in.found.observed : 0, w);
	json_write_open(w, "rules", '[');
	for (unsigned int i = 1; i <= count; i++) {
		struct rules_rule rule;
		struct rules_miss miss;
		enum explain_part part;
		bool written;

		if (!all && !is_shown(e, i, few, &written))
			continue;
		part = explain_rule(e, i, &rule, &miss);
		write_rule(i, part, &rule, &miss, w);
	}
	json_write_close(w, ']');
	json_write_close(w, '}');
}
