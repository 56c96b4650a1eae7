/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules in the syntax of nft(8), written as "nft list" would. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>

#include "rules/ruleset.h"

static void
print_match(const struct ruleset *set, const struct rule *rule, FILE *out)
{
	const char *set_name = rule_set_id(rule) < RULES_SETS ?
	    set->sets[rule_set_id(rule)].name : "";

	switch (rule->match) {
	case MATCH_NOT_UDP:
		fputs("meta l4proto != udp", out);
		break;
	case MATCH_NOT_PORT53:
		fputs("th dport != 53", out);
		break;
	case MATCH_USER:
		fprintf(out, "meta skuid %" PRIu32, rule->arg.id);
		break;
	case MATCH_GROUP:
		fprintf(out, "meta skgid %" PRIu32, rule->arg.id);
		break;
	case MATCH_MARK:
		if (rule->arg.mark.mask == UINT32_MAX)
			fprintf(out, "meta mark 0x%08" PRIx32,
			    rule->arg.mark.value);
		else
			fprintf(out, "meta mark & 0x%08" PRIx32 " == 0x%08"
			    PRIx32, rule->arg.mark.mask, rule->arg.mark.value);
		break;
	case MATCH_CGROUP:
		fprintf(out, "socket cgroupv2 level %" PRIu32 " \"%s\"",
		    rule->arg.cgroup.level, rule->arg.cgroup.path);
		break;
	case MATCH_CLASSID:
		fprintf(out, "meta cgroup %" PRIu32, rule->arg.id);
		break;
	case MATCH_DESTINATION4:
		fprintf(out, "ip daddr @%s", set_name);
		break;
	case MATCH_DESTINATION6:
		fprintf(out, "ip6 daddr @%s", set_name);
		break;
	case MATCH_NAMESERVER4:
		fprintf(out, "udp dport 53 ip daddr @%s", set_name);
		break;
	case MATCH_NAMESERVER6:
		fprintf(out, "udp dport 53 ip6 daddr @%s", set_name);
		break;
	case MATCH_QUESTION:
		if (rule->canary)
			fprintf(out, "meta mark & 0x%08" PRIx32 " == 0x%08"
			    PRIx32 " ", set->mark_mask, set->mark_mask);
		fputs("udp dport 53", out);
		break;
	}
}

static void
print_queue(const struct ruleset *set, const struct rule *rule,
    const char *counter, FILE *out)
{
	if (rule->canary)
		fprintf(out, " meta mark set meta mark & 0x%08" PRIx32
		    " | 0x%08" PRIx32, ~set->mark_mask | set->mark_passed,
		    set->mark_passed);
	else
		fprintf(out, " meta mark set meta mark | 0x%08" PRIx32,
		    set->mark_passed);
	fprintf(out, "%s queue", counter);
	if (set->queue_bypass || set->queue_count > 1)
		fprintf(out, " flags %s%s%s", set->queue_bypass ? "bypass" : "",
		    set->queue_bypass && set->queue_count > 1 ? "," : "",
		    set->queue_count > 1 ? "fanout" : "");
	fprintf(out, " to %" PRIu16, set->queue_number);
	if (set->queue_count > 1)
		fprintf(out, "-%d", set->queue_number + set->queue_count - 1);
}

static void
print_rule(const struct ruleset *set, const struct rule *rule,
    const char *counter, FILE *out)
{
	print_match(set, rule, out);
	switch (rule->action) {
	case ACTION_ACCEPT:
		fprintf(out, "%s accept", counter);
		break;
	case ACTION_QUEUE:
		print_queue(set, rule, counter, out);
		break;
	case ACTION_SET_ZONE:
		fprintf(out, "%s ct original zone set %" PRIu16
		    " meta mark set meta mark & 0x%08" PRIx32, counter,
		    set->zone, ~set->mark_mask);
		break;
	case ACTION_NOTRACK:
		fprintf(out, "%s notrack", counter);
		break;
	}
}

void
rule_print(const struct ruleset *set, const struct rule *rule, FILE *out)
{
	print_rule(set, rule, "", out);
}

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

static void
print_chain(const struct ruleset *set, enum rules_chain chain, FILE *out)
{
	fprintf(out, "\tchain %s {\n\t\ttype filter hook output priority %d; "
	    "policy accept;\n", rules_chain_name(chain),
	    rules_chain_priority(chain));
	for (size_t i = 0; i < set->count; i++) {
		if (set->rules[i].chain != chain)
			continue;
		fputs("\t\t", out);
		print_rule(set, &set->rules[i], " counter", out);
		fprintf(out, " comment \"%s\"\n", set->rules[i].comment);
	}
	fputs("\t}\n", out);
}

int
ruleset_print(const struct ruleset *set, FILE *out)
{
	fputs("# The table of nfdns.  The running daemon puts it in by itself, "
	    "adds \"flags owner\"\n"
	    "# and, on a kernel without the queue statement, uses the xt "
	    "target NFQUEUE instead.\n"
	    "table inet " RULES_TABLE " {\n", out);
	for (size_t i = 0; i < RULES_SETS; i++)
		if (set->sets[i].count > 0)
			print_set(&set->sets[i], out);
	print_chain(set, CHAIN_QUESTION, out);
	fputc('\n', out);
	print_chain(set, CHAIN_VERDICT, out);
	fputs("}\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
