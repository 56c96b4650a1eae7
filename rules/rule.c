/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>

#include "rules/rule.h"

void
rule_when(struct rule *rule, struct condition condition)
{
	assert(rule->condition_count < RULE_CONDITIONS);
	rule->conditions[rule->condition_count++] = condition;
}

void
rule_then(struct rule *rule, struct statement statement)
{
	assert(rule->statement_count < RULE_STATEMENTS);
	rule->statements[rule->statement_count++] = statement;
}

bool
rule_queues(const struct rule *rule)
{
	for (size_t i = 0; i < rule->statement_count; i++)
		if (rule->statements[i].kind == STATEMENT_QUEUE)
			return true;
	return false;
}

/* What it does is rarer in kernels than what it looks at. */
const char *
rule_remedy(const struct rule *rule)
{
	const char *remedy = rule->remedy;

	for (size_t i = 0; remedy == NULL && i < rule->statement_count; i++)
		remedy = statement_remedy(rule->statements[i].kind);
	for (size_t i = 0; remedy == NULL && i < rule->condition_count; i++)
		remedy = subject_remedy(rule->conditions[i].subject);
	return remedy != NULL ? remedy :
	    "use a kernel with CONFIG_NF_TABLES_INET";
}

void
rule_print(const struct rule *rule, FILE *out)
{
	conditions_print(rule->conditions, rule->condition_count, out);
	for (size_t i = 0; i < rule->statement_count; i++)
		if (rule->statements[i].kind != STATEMENT_COUNTER)
			statement_print(&rule->statements[i], out);
}
