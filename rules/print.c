/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules in the syntax of nft(8), written as "nft list" would. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netfilter.h>

#include "rules/ruleset.h"

/* A value of our own bits, and a space behind. */
static void
print_mark(const struct ruleset *set, uint32_t value, FILE *out)
{
	fprintf(out, "meta mark & 0x%08" PRIx32 " == 0x%08" PRIx32 " ",
	    set->mark_mask, value);
}

#define FIRST		"tcp flags & (fin | syn | rst | ack) == syn"
#define NOT_FIRST	"tcp flags & (fin | syn | rst | ack) != syn"

/* The key of the sets of connections, as match_load_stream() takes it. */
static const char *
key_of(enum rule_match match)
{
	bool ipv4 = rules_is_ipv4(match);

	if (rules_is_reply(match))
		return ipv4 ? "ip daddr . tcp dport . ip saddr" :
		    "ip6 daddr . tcp dport . ip6 saddr";
	return ipv4 ? "ip saddr . tcp sport . ip daddr" :
	    "ip6 saddr . tcp sport . ip6 daddr";
}

static const char *
streams_of(enum rule_match match)
{
	return rules_is_ipv4(match) ? RULES_STREAMS4 : RULES_STREAMS6;
}

/* Of connections in the set: what else is to be so, and a space behind. */
static const char *
event_of(enum rule_match match)
{
	switch (match) {
	case MATCH_RESET4:
	case MATCH_RESET6:
		return "tcp flags & rst == rst ";
	case MATCH_DATA4:
	case MATCH_DATA6:
		return "tcp flags & psh == psh ";
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
		return "tcp flags & psh == psh ";
	case MATCH_END4:
	case MATCH_END6:
		return "tcp flags & (fin | rst) != 0 ";
	default:
		return "";
	}
}

static void
print_match_tcp(const struct ruleset *set, const struct rule *rule,
    const char *set_name, FILE *out)
{
	bool ipv4 = rules_is_ipv4(rule->match);

	switch (rule->match) {
	case MATCH_NOT_TCP:
		fputs("meta l4proto != tcp", out);
		break;
	case MATCH_CONNECTION:
		fputs("tcp dport 53 " FIRST, out);
		break;
	case MATCH_CONNECTION4:
	case MATCH_CONNECTION6:
		fprintf(out, "tcp dport 53 " FIRST " %s daddr @%s",
		    ipv4 ? "ip" : "ip6", set_name);
		break;
	case MATCH_FIRST4:
	case MATCH_FIRST6:
		fprintf(out, "meta nfproto %s " FIRST, ipv4 ? "ipv4" : "ipv6");
		break;
	case MATCH_FIRST_MARKED:
		print_mark(set, set->mark_stream, out);
		fputs(FIRST, out);
		break;
	case MATCH_FIRST_MARKED4:
	case MATCH_FIRST_MARKED6:
		print_mark(set, set->mark_stream, out);
		fprintf(out, "meta nfproto %s " FIRST, ipv4 ? "ipv4" : "ipv6");
		break;
	case MATCH_LATER4:
	case MATCH_LATER6:
	case MATCH_RESET4:
	case MATCH_RESET6:
	case MATCH_DATA4:
	case MATCH_DATA6:
	case MATCH_ANSWER4:
	case MATCH_ANSWER6:
	case MATCH_END4:
	case MATCH_END6:
		if (rules_is_reply(rule->match))
			print_mark(set, set->mark_answered, out);
		fprintf(out, "meta nfproto %s %s%s @%s", ipv4 ? "ipv4" : "ipv6",
		    event_of(rule->match), key_of(rule->match),
		    streams_of(rule->match));
		break;
	case MATCH_NOT_STREAMS:
		fprintf(out, "th dport != 53 meta mark & 0x%08" PRIx32
		    " != 0x%08" PRIx32, set->mark_mask, set->mark_answered);
		break;
	case MATCH_NOT_STREAM:
		fprintf(out, "meta mark & 0x%08" PRIx32 " != 0x%08" PRIx32,
		    set->mark_mask, set->mark_stream);
		break;
	case MATCH_NOT_LOOPBACK:
		fputs("iif != \"lo\"", out);
		break;
	case MATCH_ARRIVED_SCOPED:
		print_mark(set, set->mark_stream, out);
		fputs("ip6 saddr fe80::/10 tcp dport 53 " NOT_FIRST, out);
		break;
	case MATCH_ARRIVED4:
	case MATCH_ARRIVED6:
		print_mark(set, set->mark_stream, out);
		fprintf(out, "meta nfproto %s tcp dport 53",
		    ipv4 ? "ipv4" : "ipv6");
		break;
	default:
		break;
	}
}

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
	case MATCH_FOREIGN_SOURCE:
		fputs("fib saddr type != local", out);
		break;
	case MATCH_BROADCAST:
		fputs("meta nfproto ipv4 fib daddr type broadcast", out);
		break;
	case MATCH_MULTICAST4:
		fputs("ip daddr 224.0.0.0/4", out);
		break;
	case MATCH_MULTICAST6:
		fputs("ip6 daddr ff00::/8", out);
		break;
	case MATCH_NAMESERVER4:
		fprintf(out, "udp dport 53 ip daddr @%s", set_name);
		break;
	case MATCH_NAMESERVER6:
		fprintf(out, "udp dport 53 ip6 daddr @%s", set_name);
		break;
	case MATCH_REPEATED:
		print_mark(set, set->mark_passed, out);
		fputs("udp dport 53", out);
		break;
	case MATCH_QUESTION:
		if (rule->canary)
			print_mark(set, set->mark_mask, out);
		fputs("udp dport 53", out);
		break;
	default:
		print_match_tcp(set, rule, set_name, out);
		break;
	}
}

static void
print_queue_to(const struct ruleset *set, const char *counter, FILE *out)
{
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
	print_queue_to(set, counter, out);
}

static void
print_set_change(const struct rule *rule, const char *counter, FILE *out)
{
	fprintf(out, "%s %s @%s { %s", counter,
	    rule->action == ACTION_FORGET ? "delete" : "update",
	    streams_of(rule->match), key_of(rule->match));
	if (rule->seconds > 0)
		fprintf(out, " timeout %us", rule->seconds);
	fputs(" }", out);
}

static void
print_surplus(const struct ruleset *set, const struct rule *rule,
    const char *counter, FILE *out)
{
	fprintf(out, " update @" RULES_USERS " { meta skuid limit rate over %"
	    PRIu32 "/second burst %" PRIu32 " packets }", set->user_rate,
	    set->user_rate);
	if (rule->action == ACTION_SURPLUS_MARKED)
		fprintf(out, " meta mark set meta mark | 0x%08" PRIx32,
		    set->mark_passed);
	fprintf(out, "%s accept", counter);
}

static void
print_action_tcp(const struct ruleset *set, const struct rule *rule,
    const char *counter, FILE *out)
{
	switch (rule->action) {
	case ACTION_QUEUE_STREAM:
		print_queue_to(set, counter, out);
		break;
	case ACTION_REMEMBER:
	case ACTION_RENEW:
	case ACTION_FORGET:
		print_set_change(rule, counter, out);
		fputs(" accept", out);
		break;
	case ACTION_RENEW_DIVERT:
		print_set_change(rule, counter, out);
		fprintf(out, " meta mark set meta mark | 0x%08" PRIx32
		    " accept", set->mark_stream);
		break;
	case ACTION_DIVERT:
		fprintf(out, "%s meta mark set meta mark | 0x%08" PRIx32
		    " accept", counter, set->mark_stream);
		break;
	case ACTION_RELEASE:
		fprintf(out, "%s meta mark set meta mark & 0x%08" PRIx32
		    " accept", counter, ~set->mark_mask);
		break;
	case ACTION_TPROXY:
		fprintf(out, "%s tproxy %s:%" PRIu16 " accept", counter,
		    rules_is_ipv4(rule->match) ? "ip to 127.0.0.1" :
		    "ip6 to [::1]", set->stream_port);
		break;
	default:
		break;
	}
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
		    " meta mark set meta mark & 0x%08" PRIx32 " accept", counter,
		    set->zone, ~set->mark_mask);
		break;
	case ACTION_CLEAR:
		fprintf(out, "%s meta mark set meta mark & 0x%08" PRIx32
		    " accept", counter, ~set->mark_mask);
		break;
	case ACTION_NOTRACK:
		fprintf(out, "%s notrack accept", counter);
		break;
	case ACTION_SURPLUS:
	case ACTION_SURPLUS_MARKED:
		print_surplus(set, rule, counter, out);
		break;
	default:
		print_action_tcp(set, rule, counter, out);
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

/* A set that rules fill. */
static void
print_streams(const struct ruleset *set, const char *name, const char *type,
    FILE *out)
{
	fprintf(out, "\tset %s {\n\t\ttype %s . inet_service . %s\n"
	    "\t\tsize %" PRIu32 "\n\t\tflags dynamic,timeout\n\t\ttimeout %ds\n"
	    "\t}\n\n", name, type, type, set->streams_max, RULES_STREAMS_S);
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
	if (set->tcp) {
		print_streams(set, RULES_STREAMS4, "ipv4_addr", out);
		print_streams(set, RULES_STREAMS6, "ipv6_addr", out);
	}
	if (set->user_rate > 0)
		fprintf(out, "\tset " RULES_USERS " {\n\t\ttype uid\n"
		    "\t\tsize %d\n\t\tflags dynamic,timeout\n"
		    "\t\ttimeout %ds\n\t}\n\n", RULES_USERS_MAX,
		    RULES_USERS_S);
	for (size_t i = 0; i < RULES_SETS; i++)
		if (set->sets[i].count > 0)
			print_set(&set->sets[i], out);
	for (enum rules_chain chain = 0; chain < CHAINS; chain++) {
		if (!ruleset_has_chain(set, chain))
			continue;
		if (chain > 0)
			fputc('\n', out);
		print_chain(set, chain, out);
	}
	fputs("}\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}
