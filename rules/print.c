/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole table in the syntax of nft(8), written as "nft list" would. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>
#include <stdlib.h>

#include "rules/ruleset.h"

static void
print_set(const struct address_set *set, FILE *out)
{
	fprintf(out, "\tset %s {\n\t\ttype %s\n\t\tflags interval\n"
	    "\t\telements = { ", set->name,
	    set->family == AF_INET ? "ipv4_addr" : "ipv6_addr");
	for (size_t i = 0; i < set->count; i++) {
		const struct config_prefix *prefix = &set->prefixes[i];
		char text[INET6_ADDRSTRLEN];

		inet_ntop(prefix->family, prefix->address, text, sizeof(text));
		fprintf(out, "%s%s", i > 0 ? ",\n\t\t\t     " : "", text);
		if (prefix->length < 8 * address_size(prefix->family))
			fprintf(out, "/%u", prefix->length);
	}
	fputs(" }\n\t}\n\n", out);
}

/* A set that rules fill. */
static void
print_streams(const struct ruleset *set, const char *name, const char *type,
    FILE *out)
{
	fprintf(out, "\tset %s {\n\t\ttype %s . inet_service . %s\n"
	    "\t\tsize %" PRIu32 "\n\t\tflags dynamic,timeout\n\t\ttimeout %ds\n"
	    "\t}\n\n", name, type, type, set->streams_max, RULES_STREAMS_S);
}

/* With its counter, unlike rule_print(). */
static void
print_rule(const struct rule *rule, FILE *out)
{
	conditions_print(rule->conditions, rule->condition_count, out);
	for (size_t i = 0; i < rule->statement_count; i++)
		statement_print(&rule->statements[i], out);
}

static void
print_chain(const struct ruleset *set, enum rules_chain chain, FILE *out)
{
	const struct rules_chain_form *form = rules_chain_form(chain);

	fprintf(out, "\tchain %s {\n\t\ttype %s hook %s priority %d; "
	    "policy accept;\n", form->name, form->type,
	    form->hook == NF_INET_LOCAL_OUT ? "output" : "prerouting",
	    form->priority);
	for (size_t i = 0; i < set->count; i++) {
		if (set->rules[i].chain != chain)
			continue;
		fputs("\t\t", out);
		print_rule(&set->rules[i], out);
		fprintf(out, " comment \"%s\"\n", set->rules[i].comment);
	}
	fputs("\t}\n", out);
}

/* Sets of addresses and chains of one table, and its end. */
static void
print_rest(const struct ruleset *set, enum rules_table table, FILE *out)
{
	const char *between = "";

	for (enum user_budget i = 0; i < USER_BUDGETS; i++)
		if (ruleset_has_budget(set, i) &&
		    rules_users(i)->table == table)
			fprintf(out, "\tset %s {\n\t\ttype %s\n"
			    "\t\tsize %d\n\t\tflags dynamic,timeout\n"
			    "\t\ttimeout %ds\n\t}\n\n", rules_users_name(i),
			    rules_users(i)->type, RULES_USERS_MAX,
			    RULES_USERS_S);
	for (enum rules_set_id i = 0; i < RULES_SETS; i++)
		if (set->sets[i].count > 0 && rules_set_table(i) == table)
			print_set(&set->sets[i], out);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++) {
		if (!ruleset_has_chain(set, chain) ||
		    rules_chain_form(chain)->table != table)
			continue;
		fputs(between, out);
		print_chain(set, chain, out);
		between = "\n";
	}
	fputs("}\n", out);
}

int
ruleset_print(const struct ruleset *set, FILE *out)
{
	fputs("# The table of nfdns.  The running daemon puts it in by itself, "
	    "adds \"flags owner\"\n"
	    "# and, on a kernel without the queue statement, uses the xt "
	    "target NFQUEUE instead.\n", out);
	fprintf(out, "# Packets that a full queue has no room for %s.\n",
	    set->fail_open ? "pass unread" : "are dropped");
	fputs("table inet " RULES_TABLE " {\n", out);
	if (set->tcp) {
		print_streams(set, RULES_STREAMS4, "ipv4_addr", out);
		print_streams(set, RULES_STREAMS6, "ipv6_addr", out);
	}
	print_rest(set, TABLE_INET, out);
	for (enum rules_table table = TABLE_IP; table < RULES_TABLES &&
	    set->guests; table++) {
		fprintf(out, "table %s " RULES_TABLE " {\n",
		    rules_table_form(table)->word);
		print_rest(set, table, out);
	}
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

char *
ruleset_text(const struct ruleset *set)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error;

	if (out == NULL)
		return NULL;
	error = ruleset_print(set, out);
	if (fclose(out) == 0 && error == 0)
		return text;
	free(text);
	return NULL;
}
